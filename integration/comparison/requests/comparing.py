"""Two answers to one request, as far as they must be equal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from rebalance_check.integration.wire.frames import read_prefix
from rebalance_check.integration.wire.messages import name_of, read_request, read_response

CLOSED: Final = "the connection is closed"
UNANSWERED: Final = "no answer"

EVERYWHERE: Final = frozenset({"throttle_time_ms"})
"""Fields that say when."""
OF_ADDRESSES: Final = frozenset({"host", "port", "node_id", "client_host"})
"""Fields that say which broker answers, and from where it was asked: a broker in a container sees its gateway."""
OF_AUTHORIZERS: Final = frozenset({"authorized_operations"})
"""Fields that Kafka's broker fills in around its coordinator."""


def comparable(frame: bytes, answer: bytes | None, left_out: Collection[str], is_listed: Callable[[str], bool]) -> Any:
    """The part of an answer to ``frame`` that has to be equal; ``left_out`` are names of fields.

    Of ListGroups, groups for whose id ``is_listed`` is false are left out: a broker may have others. Items in the
    order of a hash table are sorted.
    """
    if answer is None:
        return CLOSED
    prefix = read_prefix(frame)
    response: Any = read_response(prefix, answer)
    if response is None:
        return f"bytes that are no answer: {answer.hex()}"
    fields = _without(response.to_dict(), left_out)
    sort = _BY_HASH.get(name_of(prefix.api_key))
    if sort is not None:
        sort(fields, read_request(prefix, frame))
    if name_of(prefix.api_key) == "ListGroups":
        fields["groups"] = [group for group in fields["groups"] if is_listed(group["group_id"])]
    return fields


def _without(field: Any, left_out: Collection[str]) -> Any:
    if isinstance(field, dict):
        return {name: _without(value, left_out) for name, value in field.items() if name not in left_out}
    return [_without(one, left_out) for one in field] if isinstance(field, list) else field


def _sort(fields: Any, name: str) -> None:
    fields[name] = fields[name] and sorted(fields[name], key=str)


def _sort_described(fields: Any, _: Any) -> None:
    for group in fields["groups"]:
        _sort(group, "members")


def _sort_fetched(fields: Any, request: Any) -> None:
    """Of groups whose topics are not named all are fetched, in the order of a hash table."""
    asked = [request] if "groups" not in fields else request.groups
    for group, wanted in zip(fields.get("groups", [fields]), asked, strict=True):
        if wanted.topics is None:
            for topic in group["topics"]:
                _sort(topic, "partitions")
            _sort(group, "topics")


_BY_HASH: Final[Mapping[str, Callable[[Any, Any], None]]] = {
    "JoinGroup": lambda fields, _: _sort(fields, "members"),
    "ListGroups": lambda fields, _: _sort(fields, "groups"),
    "DeleteGroups": lambda fields, _: _sort(fields, "results"),
    "DescribeGroups": _sort_described,
    "OffsetFetch": _sort_fetched,
}
"""Answers with parts in the order of a hash table, and how they get another one."""
