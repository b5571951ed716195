"""What goes over the pipe to ``AssignorOracle.java`` and comes back: big-endian, strings as Java's ``writeUTF``.

A problem: the assignor's class (one byte of length), the topics (name, int32 partitions, for each the racks of its
replicas), the members in map order (id, topics, user data, owned partitions, int32 generation, instance id, rack).
An answer: a byte 0 and everybody's partitions, or 1 or 2 and what was thrown or how long nothing came.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import IO, Final

from rebalance_check.impl.protocol.sticky_user_data import write_cooperative, write_sticky
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.assignment.problem import (
    COOPERATIVE_STICKY,
    RANGE,
    ROUNDROBIN,
    STICKY,
    Answer,
    Member,
    Partition,
    Problem,
)

CLASSES: Final = {
    RANGE: "RangeAssignor",
    ROUNDROBIN: "RoundRobinAssignor",
    STICKY: "StickyAssignor",
    COOPERATIVE_STICKY: "CooperativeStickyAssignor",
}
_ANSWERED: Final = 0
_SHORT, _INT = struct.Struct(">H"), struct.Struct(">i")


def user_data_of(assignor: str, member: Member) -> bytes | None:
    """What a client of these claims writes into its user data: sticky its claims, cooperative-sticky a generation."""
    if assignor == STICKY and (member.owned or member.generation is not None):
        return write_sticky([TopicPartition(*partition) for partition in member.owned], member.generation)
    if assignor == COOPERATIVE_STICKY and member.generation is not None:
        return write_cooperative(member.generation)
    return None


def owned_field(assignor: str, member: Member) -> tuple[Partition, ...]:
    """What a client writes into the field of owned partitions: nothing when it is EAGER, for it has given all up."""
    return member.owned if assignor == COOPERATIVE_STICKY else ()


def encode(assignor: str, problem: Problem) -> bytes:
    """A problem as the Java side reads it."""
    name = CLASSES[assignor].encode()
    parts = [bytes([len(name)]), name, _SHORT.pack(len(problem.topics))]
    for topic, count in problem.topics.items():
        parts += [_text(topic), _INT.pack(count)]
        racks = problem.racks.get(topic) if problem.racks is not None else None
        for replicas in racks if racks is not None else ((),) * count:
            parts += [bytes([len(replicas)]), *map(_text, replicas)]
    parts.append(_SHORT.pack(len(problem.members)))
    for member_id, member in problem.members.items():
        parts += [_text(member_id), *_member(assignor, member)]
    return b"".join(parts)


def _member(assignor: str, member: Member) -> Iterable[bytes]:
    yield _SHORT.pack(len(member.topics))
    yield from map(_text, member.topics)
    user_data = user_data_of(assignor, member)
    yield _INT.pack(-1) if user_data is None else _INT.pack(len(user_data)) + user_data
    owned = owned_field(assignor, member)
    yield _SHORT.pack(len(owned))
    for topic, number in owned:
        yield _text(topic) + _INT.pack(number)
    yield _INT.pack(-1 if member.generation is None else member.generation)
    yield _optional(member.instance)
    yield _optional(member.rack)


def _text(text: str) -> bytes:
    """``writeUTF``, which is UTF-8 for all but NUL and what lies beyond 16 bits."""
    if "\0" in text or any(ord(char) > 0xFFFF for char in text):
        raise RebalanceCheckError(f"{text!r} cannot go to the Java assignors: use names without NUL and emoji")
    data = text.encode()
    return _SHORT.pack(len(data)) + data


def _optional(text: str | None) -> bytes:
    return b"\0" if text is None else b"\1" + _text(text)


def read_answer(stream: IO[bytes]) -> Answer:
    """The next answer; `EOFError` when the process has ended."""
    kind = _exactly(stream, 1)[0]
    if kind != _ANSWERED:
        return Answer({}, _read_text(stream))
    assigned: dict[str, tuple[Partition, ...]] = {}
    for _ in range(_read_short(stream)):
        member = _read_text(stream)
        assigned[member] = tuple((_read_text(stream), _read_int(stream)) for _ in range(_read_short(stream)))
    return Answer(assigned)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _read_short(stream: IO[bytes]) -> int:
    return int(_SHORT.unpack(_exactly(stream, _SHORT.size))[0])


def _read_int(stream: IO[bytes]) -> int:
    return int(_INT.unpack(_exactly(stream, _INT.size))[0])


def _read_text(stream: IO[bytes]) -> str:
    return _exactly(stream, _read_short(stream)).decode()
