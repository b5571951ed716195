"""A record of ``__consumer_offsets`` as Kafka's tools print it in JSON, to facts.

Sources: ``OffsetsMessageParser`` and ``CoordinatorRecordMessageFormatter``. ``kafka-dump-log`` shows the bytes of
consumers decoded, and all others, as the formatters of the console consumer do, in base64.
"""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from rebalance_check.pipeline.diagnose.dumps.members import with_bytes
from rebalance_check.pipeline.diagnose.dumps.records import (
    GROUP_EPOCHS,
    KINDS,
    MODERN,
    Read,
    RecordKind,
    recorded_member,
)
from rebalance_check.pipeline.diagnose.facts import (
    GroupDeleted,
    GroupRecorded,
    ModernGroupSeen,
    NotUnderstood,
    OffsetRecorded,
    Place,
    RecordedMember,
)

_Of = TypeVar("_Of")


class _Commit(msgspec.Struct):
    group: str
    topic: str
    partition: int


class _Offset(msgspec.Struct, rename="camel"):
    offset: int
    commit_timestamp: int | None = None


class _GroupKey(msgspec.Struct):
    group: str


class _ModernKey(msgspec.Struct, rename="camel"):
    group_id: str


class _Epoch(msgspec.Struct):
    epoch: int


class _Topic(msgspec.Struct):
    topic: str
    partitions: list[int]


class _Subscription(msgspec.Struct, rename="camel"):
    topics: list[str]
    owned_partitions: list[_Topic] = []
    generation_id: int | None = None


class _Assignment(msgspec.Struct, rename="camel"):
    assigned_partitions: list[_Topic]


class _Member(msgspec.Struct, rename="camel"):
    member_id: str
    client_id: str
    client_host: str
    session_timeout: int
    subscription: _Subscription | str
    assignment: _Assignment | str
    group_instance_id: str | None = None
    rebalance_timeout: int | None = None


class _Group(msgspec.Struct, rename="camel"):
    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    members: list[_Member]
    current_state_timestamp: int = -1


def json_facts(key: Any, value: Any, place: Place, time_ms: int | None, partition: int | None = None) -> Read:
    """The facts of a record by the JSON of its key and its value; a value of None is a tombstone.

    The place of the record's type is ``type`` (``kafka-dump-log``, and formatters from 4.0 on) or ``version``. Without
    ``time_ms`` a commit has its own time, and a group's record none but that of its state.
    """
    number = _number(key)
    kind = KINDS.get(number, RecordKind.OTHER)
    try:
        if kind is RecordKind.OFFSET:
            return _commit(key, value, place, time_ms)
        if kind is RecordKind.GROUP:
            return _group(key, value, place, time_ms, partition)
        if kind is not RecordKind.OTHER:
            return _modern(key, value, number, place, time_ms)
    except (msgspec.ValidationError, _Unreadable) as error:
        return (NotUnderstood(place, f"a record of type {number}: {error}"),)
    return (NotUnderstood(place, f"a record of type {number}, which no known release writes"),)


class _Unreadable(Exception):  # noqa: N818 - named for the fate of the record
    """The JSON has no data."""


def _number(key: Any) -> int:
    """The type of a record; -1 for none."""
    found = key.get("type", key.get("version")) if isinstance(key, dict) else None
    try:
        return int(found) if isinstance(found, str | int) else -1
    except ValueError:
        return -1


def _data(part: Any, form: type[_Of]) -> _Of:
    if not isinstance(part, dict) or "data" not in part:
        raise _Unreadable("there is no field named data")
    return msgspec.convert(part["data"], form)


def _commit(key: Any, value: Any, place: Place, time_ms: int | None) -> Read:
    of = _data(key, _Commit)
    partition, offset = f"{of.topic}-{of.partition}", None
    if value is not None:
        found = _data(value, _Offset)
        offset = found.offset
        time_ms = found.commit_timestamp if time_ms is None else time_ms
    return (OffsetRecorded(place=place, time_ms=time_ms, group=of.group, partition=partition, offset=offset),)


def _group(key: Any, value: Any, place: Place, time_ms: int | None, partition: int | None) -> Read:
    group = _data(key, _GroupKey).group
    if value is None:
        return (GroupDeleted(place=place, time_ms=time_ms, group=group),)
    found = _data(value, _Group)
    members = [_member(each, found.protocol_type) for each in found.members]
    stamp = found.current_state_timestamp
    recorded = GroupRecorded(
        place=place, time_ms=time_ms, group=group, generation=found.generation, leader=found.leader or "",
        protocol=found.protocol or "", protocol_type=found.protocol_type,
        members=tuple(member for member, _ in members), state_time_ms=stamp if stamp >= 0 else None,
        partition=partition,
    )  # fmt: skip
    return (recorded, *(NotUnderstood(place, why) for _, why in members if why))


def _member(found: _Member, protocol_type: str) -> tuple[RecordedMember, str]:
    member = recorded_member(
        found.member_id, found.group_instance_id, found.client_id, found.client_host,
        session_ms=found.session_timeout, rebalance_ms=found.rebalance_timeout,
    )  # fmt: skip
    raw: list[bytes | None] = []
    for part in (found.subscription, found.assignment):
        try:
            raw.append(b64decode(part, validate=True) if isinstance(part, str) else None)
        except ValueError as error:
            return member, f"the bytes of {member.member} are no base64 ({error})"
    if isinstance(found.subscription, _Subscription):
        member = replace(
            member,
            topics=tuple(found.subscription.topics),
            owned=_names(found.subscription.owned_partitions),
            claimed_generation=found.subscription.generation_id,
        )
    if isinstance(found.assignment, _Assignment):
        member = replace(member, assignment=_names(found.assignment.assigned_partitions))
    return with_bytes(member, protocol_type, *raw)


def _names(topics: list[_Topic]) -> tuple[str, ...]:
    return tuple(f"{each.topic}-{partition}" for each in topics for partition in each.partitions)


def _modern(key: Any, value: Any, number: int, place: Place, time_ms: int | None) -> Read:
    group = _data(key, _ModernKey).group_id
    epoch = _data(value, _Epoch).epoch if value is not None and number in GROUP_EPOCHS else None
    return (ModernGroupSeen(place=place, time_ms=time_ms, group=group, kind=MODERN[KINDS[number]], epoch=epoch),)
