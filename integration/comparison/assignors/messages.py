"""A problem as ``Assignors.java`` reads it, and its answer."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rebalance_check.impl.protocol.sticky_user_data import write_cooperative, write_sticky
from rebalance_check.impl.protocol.topic_partition import TopicPartition
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


def user_data_of(assignor: str, member: Member) -> bytes | None:
    """The user data of a client with these claims: sticky writes its claims, cooperative-sticky a generation."""
    if assignor == STICKY and (member.owned or member.generation is not None):
        return write_sticky([TopicPartition(*partition) for partition in member.owned], member.generation)
    if assignor == COOPERATIVE_STICKY and member.generation is not None:
        return write_cooperative(member.generation)
    return None


def owned_field(assignor: str, member: Member) -> tuple[Partition, ...]:
    """A client's field of owned partitions: empty when it is EAGER, for it has given all up."""
    return member.owned if assignor == COOPERATIVE_STICKY else ()


def problem_message(assignor: str, problem: Problem) -> dict[str, Any]:
    """A problem, put to an assignor."""
    return {
        "assignor": CLASSES[assignor],
        "topics": {topic: _racks(problem, topic, count) for topic, count in problem.topics.items()},
        "members": [_member(assignor, member_id, member) for member_id, member in problem.members.items()],
    }


def _racks(problem: Problem, topic: str, count: int) -> object:
    """For each partition the racks of its replicas."""
    racks = problem.racks.get(topic) if problem.racks is not None else None
    return ((),) * count if racks is None else racks


def _member(assignor: str, member_id: str, member: Member) -> dict[str, Any]:
    return {
        "id": member_id,
        "topics": member.topics,
        "user_data": user_data_of(assignor, member),
        "owned": owned_field(assignor, member),
        "generation": -1 if member.generation is None else member.generation,
        "instance": member.instance,
        "rack": member.rack,
    }


class _Answered(msgspec.Struct):
    assigned: dict[str, tuple[Partition, ...]] = {}
    failure: str = ""


_decode: Final = msgspec.json.Decoder(_Answered).decode


def read_answer(line: bytes) -> Answer:
    """The answer in a line."""
    answered = _decode(line)
    return Answer(answered.assigned, answered.failure)
