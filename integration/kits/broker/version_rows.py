"""The versions that a broker says it serves: a row per api, held where a request in each of them is answered."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.integration.kits.broker.target import DEADLINE_S, Target
from rebalance_check.integration.kits.report import KitRow
from rebalance_check.integration.wire.apis import VERSIONS
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import admin, consumer, errors
from rebalance_check.integration.wire.served import LEAST, VersionRange
from rebalance_check.properties.verdict import Outcome

SECTION: Final = "versions"

_NOBODY: Final = "nobody"
_LEAVER: Final = consumer.LeaveGroupRequest.MemberIdentity


_PROTOCOL: Final = consumer.JoinGroupRequest.JoinGroupRequestProtocol


def _unknown_member(group: str) -> Any:
    return consumer.JoinGroupRequest(
        group_id=group, session_timeout_ms=10_000, rebalance_timeout_ms=10_000, member_id=_NOBODY,
        group_instance_id=None, protocol_type="consumer", protocols=[_PROTOCOL(name="range", metadata=b"")],
        reason=None,
    )  # fmt: skip


REQUESTS: Final[Mapping[str, Callable[[str], Any]]] = {
    "JoinGroup": _unknown_member,
    "SyncGroup": lambda group: consumer.SyncGroupRequest(
        group_id=group, generation_id=1, member_id=_NOBODY, group_instance_id=None, protocol_type=None,
        protocol_name=None, assignments=[],
    ),
    "Heartbeat": lambda group: consumer.HeartbeatRequest(
        group_id=group, generation_id=1, member_id=_NOBODY, group_instance_id=None
    ),
    "LeaveGroup": lambda group: consumer.LeaveGroupRequest(
        group_id=group, member_id=_NOBODY,
        members=[_LEAVER(member_id=_NOBODY, group_instance_id=None, reason=None)],
    ),
    "DescribeGroups": lambda group: admin.DescribeGroupsRequest(
        groups=[group], include_authorized_operations=False
    ),
    "DeleteGroups": lambda group: admin.DeleteGroupsRequest(groups_names=[group]),
}  # fmt: skip
"""For each api a request of a group that no client used, which every broker answers at once, if only with an error."""


@dataclass(frozen=True, slots=True)
class Probed:
    """The result for an api: the versions that were tried, and the first that was not answered, with what was seen."""

    api: str
    tried: tuple[int, ...]
    answered: tuple[int, ...]
    failure: str


def probe_versions(bootstrap: str, ranges: Mapping[int, VersionRange]) -> list[Probed]:
    """Send each request in each version that both sides speak."""
    with ThreadPoolExecutor(len(REQUESTS), thread_name_prefix="version") as pool:
        return list(pool.map(lambda api: _probe(bootstrap, api, ranges.get(_key(api))), REQUESTS))


def working(probed: Sequence[Probed], ranges: Mapping[int, VersionRange]) -> dict[int, int]:
    """The versions to speak from here on, by api key: the latest served, and where that fails the latest answered."""
    failing = {_key(each.api): max(each.answered) for each in probed if each.failure and each.answered}
    return {key: found.latest for key, found in ranges.items()} | failing


def version_rows(target: Target, probed: Sequence[Probed]) -> Iterator[KitRow]:
    """A row per api."""
    for each in probed:
        outcome = Outcome.VIOLATED if each.failure else Outcome.HELD if each.tried else Outcome.UNTESTED
        yield KitRow(
            section=SECTION,
            claim=f"{each.api} is answered in each version that ApiVersions names",
            outcome=outcome,
            checked=len(each.tried),
            detail=each.failure or ("" if each.tried else f"{each.api} is not served"),
            command=target.reproduces.part(SECTION) if each.failure else "",
        )


def _probe(bootstrap: str, api: str, served: VersionRange | None) -> Probed:
    if served is None:
        return Probed(api, (), (), "")
    low, high = VERSIONS[_key(api)]
    tried = range(max(low, served.lowest), min(high, served.latest) + 1)
    failures = {version: _failure(bootstrap, REQUESTS[api](_unused_group()), version) for version in tried}
    answered = tuple(version for version, failure in failures.items() if not failure)
    failure = next((f"v{version}: {failure}" for version, failure in failures.items() if failure), "")
    return Probed(api, tuple(tried), answered, failure)


def _unused_group() -> str:
    return f"rebalance-check-{uuid.uuid4().hex[:12]}"


def _failure(bootstrap: str, request: Any, version: int) -> str:
    """Why a request was not answered; "" when it was."""
    try:
        with Connection(bootstrap, timeout_s=DEADLINE_S) as connection:
            connection.call(request, version)
    except (OSError, errors.KafkaError, ValueError) as failure:
        return str(failure) or type(failure).__name__
    return ""


def _key(api: str) -> int:
    return int(LEAST[api][0].API_KEY)
