"""The driver on virtual Kafka: the same member as on sockets, in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.driver.virtual import VirtualBroker, VirtualMember
from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Violated

pytestmark = pytest.mark.virtual

CONFIG = GroupConfig(min_session_timeout_ms=1_000, initial_rebalance_delay_ms=3_000)
Start = Callable[[str], VirtualMember[ConsumerCoordinator]]


class Run:
    """Members on one broker."""

    def __init__(self, kafka: VirtualKafka) -> None:
        self.clock = VirtualClock()
        self.events: list[Event] = []
        self.broker = VirtualBroker(kafka, self.clock, {"t": 4}, CONFIG)

    def start(self, name: str) -> VirtualMember[ConsumerCoordinator]:
        config = ClientConfig(group_id="g", client_id=name, session_timeout_ms=10_000, rebalance_timeout_ms=15_000)
        consumer = ConsumerCoordinator(
            config, Recorder("g", name, self.clock.now, self.events.append), member=name, topics=["t"],
            assignors=[CooperativeStickyAssignor()], partitions_per_topic={},
        )  # fmt: skip
        return VirtualMember(consumer, self.broker)

    def after(self, seconds: int) -> None:
        self.clock.run_until(self.clock.now_ms + 1_000 * seconds)

    def broken(self) -> list[object]:
        verdicts = judge([RunStarted(subject="driver"), *self.events, RunEnded()]).verdicts.values()
        return [verdict.counterexample for verdict in verdicts if isinstance(verdict, Violated)]


@pytest.fixture
def run(kafka: VirtualKafka) -> Iterator[Run]:
    started = Run(kafka)
    yield started
    started.broker.close()


def owned(*members: VirtualMember[ConsumerCoordinator]) -> list[int]:
    return [len(member.coordinator.owned) for member in members]


def test_members_hand_over__leave__and_are_replaced_when_their_session_ends(run: Run) -> None:
    first = run.start("m0")
    run.after(5)
    assert owned(first) == [4]
    second, third = run.start("m1"), run.start("m2")
    run.after(20)
    assert sorted(owned(first, second, third)) == [1, 1, 2]
    assert second.close()
    run.after(10)
    assert owned(first, third) == [2, 2]
    third.kill()
    run.after(9)
    assert owned(first) == [2], "its session is not over"
    run.after(20)
    assert owned(first) == [4]
    assert run.broken() == []


def test_an_hour_of_heartbeats_keeps_one_generation(run: Run) -> None:
    member = run.start("m0")
    run.after(5)
    generation = member.coordinator.generation_if_stable()
    run.after(3_600)
    assert member.coordinator.generation_if_stable() == generation is not None
