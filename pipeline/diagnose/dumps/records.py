"""One record of a topic, as bytes, to facts: ``__consumer_offsets`` of Kafka 0.9 to 4.x, and Connect's topics.

Sources: ``OffsetCommitKey``/``Value``, ``GroupMetadataKey``/``Value``, ``ConsumerGroupMetadataValue``,
``ShareGroupMetadataValue``, ``StreamsGroupMetadataValue`` of the group coordinator, ``CoordinatorRecordType``. Nothing
here reads files or clocks: segments, consumers of a live topic and Spark use the same functions.
"""

from __future__ import annotations

import struct
from enum import Enum
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from rebalance_check.impl.protocol.wire import MalformedBytes, Reader
from rebalance_check.pipeline.diagnose.dumps.connect_topics import connect_facts
from rebalance_check.pipeline.diagnose.dumps.members import with_bytes
from rebalance_check.pipeline.diagnose.facts import (
    Fact,
    GroupDeleted,
    GroupRecorded,
    ModernGroupSeen,
    NotUnderstood,
    OffsetRecorded,
    Place,
    RecordedMember,
)

Read: TypeAlias = tuple[Fact | NotUnderstood, ...]


class RecordKind(Enum):
    """The subject of a record: a commit, a classic group, a group of another protocol, or none that its key shows."""

    OFFSET = "offset"
    GROUP = "group"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"
    OTHER = "other"


_TYPES: Final = {
    RecordKind.OFFSET: (0, 1),
    RecordKind.GROUP: (2,),
    RecordKind.CONSUMER: (3, 4, 5, 6, 7, 8, 16),
    RecordKind.SHARE: (9, 10, 11, 12, 13, 14, 15),
    RecordKind.STREAMS: (17, 18, 19, 20, 21, 22, 23),
}
KINDS: Final = {number: kind for kind, numbers in _TYPES.items() for number in numbers}
"""Kinds by the first number of a key; each other number is one of a later release, or of another topic."""
MODERN: Final[dict[RecordKind, Literal["consumer", "share", "streams"]]] = {
    RecordKind.CONSUMER: "consumer",
    RecordKind.SHARE: "share",
    RecordKind.STREAMS: "streams",
}
"""Groups of other protocols than the classic one."""
GROUP_EPOCHS: Final = frozenset({3, 11, 17})
"""The record types whose values begin with the epoch of the group."""
_KINDS_BY_BYTES: Final = {number.to_bytes(2, "big"): kind for number, kind in KINDS.items()}

_OFFSET: Final = struct.Struct(">hq")
SHORTEST_COMMIT: Final = (20, 28, 20, 24, 24)
"""The bytes of the shortest commit, by version."""
_FLEXIBLE: Final = 4
"""The first flexible version of a group's value, and the highest."""


def kind_of(key: bytes) -> RecordKind:
    """The subject of the record with this key, from the first two bytes; OTHER is that of each text, too."""
    return _KINDS_BY_BYTES.get(key[:2], RecordKind.OTHER)


def record_facts(
    key: bytes | None,
    value: bytes | None,
    *,
    source: str,
    offset: int,
    time_ms: int | None,
    partition: int | None = None,
) -> Read:
    """The facts of a record; ``value`` None is a tombstone.

    A record of ``__consumer_offsets`` is known by its key, as is one of Connect's status and config topics.
    ``time_ms`` is the record's timestamp, ``partition`` the one of ``__consumer_offsets`` if known.
    """
    if time_ms is not None and time_ms < 0:
        time_ms = None
    if not key:
        return (NotUnderstood(Place(source, offset), "the record has no key"),)
    kind = _KINDS_BY_BYTES.get(key[:2], RecordKind.OTHER)
    try:
        if kind is RecordKind.OFFSET:
            return _commit(key, value, Place(source, offset), time_ms)
        if kind is RecordKind.GROUP:
            return _group(key, value, Place(source, offset), time_ms, partition)
        if kind is not RecordKind.OTHER:
            return _modern(key, value, kind, Place(source, offset), time_ms)
    except MalformedBytes as error:
        return (NotUnderstood(Place(source, offset), str(error)),)
    found = connect_facts(_text(key), value, Place(source, offset), time_ms)
    if found is not None:
        return found
    return (NotUnderstood(Place(source, offset), f"no known topic has a key that begins with {key[:8]!r}"),)


def _text(key: bytes) -> str:
    return key.decode("utf-8", "replace")


# ------------------------------------------------------------------------------------------------------------- commits


@lru_cache(maxsize=1 << 16)
def committed_by(key: bytes) -> tuple[str, str]:
    """The group and the partition of a commit: a topic has many commits of few of them."""
    reader = Reader(key, "the key of a commit")
    reader.int16("version")
    group, topic = reader.string("group"), reader.string("topic")
    return group, f"{topic}-{reader.int32('partition')}"


def _commit(key: bytes, value: bytes | None, place: Place, time_ms: int | None) -> Read:
    group, partition = committed_by(key)
    if value is None:
        return (OffsetRecorded(place=place, time_ms=time_ms, group=group, partition=partition, offset=None),)
    version, offset = _OFFSET.unpack_from(value) if len(value) >= _OFFSET.size else (-1, -1)
    if not 0 <= version < len(SHORTEST_COMMIT):
        return (NotUnderstood(place, f"a commit of {group} for {partition} has version {version}, known are 0 to 4"),)
    if len(value) < SHORTEST_COMMIT[version]:
        return (NotUnderstood(place, f"a commit of {group} for {partition} is cut off after {len(value)} bytes"),)
    return (OffsetRecorded(place=place, time_ms=time_ms, group=group, partition=partition, offset=offset),)


# -------------------------------------------------------------------------------------------------------------- groups


def _group(key: bytes, value: bytes | None, place: Place, time_ms: int | None, partition: int | None) -> Read:
    reader = Reader(key, "the key of a group")
    reader.int16("version")
    group = reader.string("group")
    if value is None:
        return (GroupDeleted(place=place, time_ms=time_ms, group=group),)
    reader = Reader(value, f"the record of the group {group}")
    version = reader.int16("version")
    if not 0 <= version <= _FLEXIBLE:
        raise reader.fail("version", f"is {version}, known are 0 to {_FLEXIBLE}")
    fields = _Fields(reader, version)
    protocol_type, generation = fields.string("protocolType"), reader.int32("generation")
    protocol, leader = fields.optional("protocol"), fields.optional("leader")
    stamp = reader.int64("currentStateTimestamp") if version >= 2 else -1
    members = [_member(fields, protocol_type) for _ in range(fields.count("members"))]
    fields.end()
    recorded = GroupRecorded(
        place=place, time_ms=time_ms, group=group, generation=generation, leader=leader, protocol=protocol,
        protocol_type=protocol_type, members=tuple(member for member, _ in members),
        state_time_ms=stamp if stamp >= 0 else None, partition=partition,
    )  # fmt: skip
    return (recorded, *(NotUnderstood(place, why) for _, why in members if why))


def _member(fields: _Fields, protocol_type: str) -> tuple[RecordedMember, str]:
    reader, version = fields.reader, fields.version
    name = fields.string("memberId")
    instance = fields.optional("groupInstanceId") if version >= 3 else ""
    client, host = fields.string("clientId"), fields.string("clientHost")
    rebalance = reader.int32("rebalanceTimeout") if version >= 1 else -1
    session = reader.int32("sessionTimeout")
    member = recorded_member(name, instance, client, host, session_ms=session, rebalance_ms=rebalance)
    subscription, assignment = fields.bytes("subscription"), fields.bytes("assignment")
    fields.end()
    return with_bytes(member, protocol_type, subscription, assignment)


def recorded_member(
    name: str, instance: str | None, client: str, host: str, *, session_ms: int, rebalance_ms: int | None
) -> RecordedMember:
    """A member without its bytes. Where no rebalance timeout is stored, Kafka takes the session timeout."""
    return RecordedMember(
        member=name, instance=instance or "", client=client, host=host.removeprefix("/"), session_timeout_ms=session_ms,
        rebalance_timeout_ms=session_ms if rebalance_ms is None or rebalance_ms < 0 else rebalance_ms,
    )  # fmt: skip


class _Fields:
    """The types of a group's value that its flexible version writes in another way."""

    __slots__ = ("reader", "version")

    def __init__(self, reader: Reader, version: int) -> None:
        self.reader = reader
        self.version = version

    @property
    def _compact(self) -> bool:
        return self.version >= _FLEXIBLE

    def string(self, field: str) -> str:
        """A string that may not be null."""
        return self.reader.compact_string(field) if self._compact else self.reader.string(field)

    def optional(self, field: str) -> str:
        """A string, empty where it is null."""
        read = self.reader.compact_nullable_string if self._compact else self.reader.nullable_string
        return read(field) or ""

    def bytes(self, field: str) -> bytes:
        """Bytes, none where they are null."""
        return self.reader.compact_bytes(field) if self._compact else self.reader.nullable_bytes(field) or b""

    def count(self, field: str) -> int:
        """The number of elements that follow."""
        return self.reader.compact_count(field) if self._compact else self.reader.count(field)

    def end(self) -> None:
        """The end of a struct."""
        if self._compact:
            self.reader.skip_tagged_fields("tagged fields")


# ------------------------------------------------------------------------------------------- groups of other protocols


def _modern(key: bytes, value: bytes | None, kind: RecordKind, place: Place, time_ms: int | None) -> Read:
    reader = Reader(key, "the key of a group")
    number = reader.int16("version")
    group = reader.string("groupId")
    epoch: int | None = None
    if value is not None and number in GROUP_EPOCHS:
        body = Reader(value, f"the epoch of the group {group}")
        body.int16("version")
        epoch = body.int32("epoch")
    return (ModernGroupSeen(place=place, time_ms=time_ms, group=group, kind=MODERN[kind], epoch=epoch),)
