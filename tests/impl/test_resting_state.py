"""What is read of an object for the comparison of two runs: everything, but for the numbers by which runs differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from rebalance_check.impl.protocol.resting_state import state_of
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator.simulation import simulate
from rebalance_check.model.vocabulary.events import RestingStateRead


@dataclass(slots=True)
class Remembering:
    """Something with a field of each kind."""

    due_ms: int = 0
    session_timeout_ms: int = 10_000
    who: str = ""
    held: set[Any] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Remembering(due_ms=7), Remembering(due_ms=1)),
        (Remembering(who="m0-3"), Remembering(who="m1-instance-12")),
        (
            Remembering(held={TopicPartition("t", 0)}),
            Remembering(held={TopicPartition("t", 1), TopicPartition("t", 2)}),
        ),
        (Remembering(counts={"m0-1": 2}), Remembering(counts={"m1-9": 2})),
    ],
)
def test_which_time_id_or_partition_it_is__is_not_read(one: Remembering, other: Remembering) -> None:
    assert state_of(one, 10) == state_of(other, 10)


@pytest.mark.parametrize(
    "other",
    [
        Remembering(due_ms=11),
        Remembering(session_timeout_ms=6_000),
        Remembering(who="m0-1"),
        Remembering(held={TopicPartition("t", 0)}),
        Remembering(counts={"range": 1}),
    ],
)
def test_that_there_is_one__is_read(other: Remembering) -> None:
    assert state_of(Remembering(), 10) != state_of(other, 10)


def test_what_is_left_out__is_not_read() -> None:
    assert set(state_of(Remembering(), 10, but=("who", "held"))) == {"counts", "due_ms", "session_timeout_ms"}


@pytest.mark.parametrize(
    "protocol", [SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE, SimulatedProtocol.ELECTION]
)
def test_a_settled_group_is_read_after_a_new_one(protocol: SimulatedProtocol) -> None:
    reads = [
        event for event in simulate(3, SimulationOptions(protocol=protocol)) if isinstance(event, RestingStateRead)
    ]

    assert [each.is_new for each in reads] == sorted((each.is_new for each in reads), reverse=True)
    assert len(reads) % 2 == 0
    assert {each.role for each in reads} >= {"leader", "coordinator", "member at the coordinator"}


def test_the_stores_of_workers_are_read_after_new_readers_of_their_topics() -> None:
    history = simulate(0, SimulationOptions(protocol=SimulatedProtocol.CONNECT))
    reads = [event for event in history if isinstance(event, RestingStateRead)]

    assert [(each.subject, each.role) for each in reads if each.is_new] == [
        ("new reader", "config store"), ("new reader", "status store")
    ]  # fmt: skip
    assert [each.is_new for each in reads] == sorted((each.is_new for each in reads), reverse=True)
    assert {each.role for each in reads} == {"config store", "status store"}
    assert len(reads) > 2
