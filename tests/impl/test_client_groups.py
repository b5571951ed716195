"""Several clients on one group coordinator: eager, cooperative, mixed, static, stalled; every history is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.sticky import StickyAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    MembershipLost,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RunEnded,
    RunStarted,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Violated

Make = Callable[[], Sequence[Assignor]]


def eager() -> Sequence[Assignor]:
    return [RangeAssignor()]


def sticky() -> Sequence[Assignor]:
    return [StickyAssignor()]


def cooperative() -> Sequence[Assignor]:
    return [CooperativeStickyAssignor()]


class Environment(Loopback):
    """Consumers m0, m1, ... of topic t with six partitions."""

    def start(self, member: str, make: Make, *, instance: str | None = None) -> None:
        config = ClientConfig(
            group_id="g",
            client_id=member,
            group_instance_id=instance,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=30_000,
        )
        build = partial(self._consumer, config, member, make)
        self.add(build, group="g", member=member)

    def _consumer(self, config: ClientConfig, member: str, make: Make, recorder: Recorder) -> ConsumerCoordinator:
        return ConsumerCoordinator(
            config,
            recorder,
            member=member,
            topics=["t"],
            assignors=make(),
            partitions_per_topic={"t": 6},
            auto_commit_ms=5_000,
        )

    def consumer(self, member: str) -> ConsumerCoordinator:
        client = self.clients[member]
        assert isinstance(client, ConsumerCoordinator)
        return client

    def owned(self) -> dict[str, list[int]]:
        return {name: [tp.partition for tp in self.consumer(name).owned] for name in sorted(self.clients)}

    def violated(self) -> list[str]:
        """The names of the claims that the history breaks."""
        history = [RunStarted(subject="loopback"), *self.events, RunEnded()]
        verdicts = judge(history).verdicts
        return sorted(invariant.name for invariant, verdict in verdicts.items() if isinstance(verdict, Violated))

    def generations(self) -> int:
        return max(e.generation for e in self.events if isinstance(e, AssignmentComputed))


@pytest.fixture
def environment() -> Environment:
    return Environment()


each_protocol = pytest.mark.parametrize("make", [eager, sticky, cooperative])


@each_protocol
def test_members_that_come_and_go_share_all_partitions(environment: Environment, make: Make) -> None:
    for count, member in enumerate(["m0", "m1", "m2"], start=1):
        environment.start(member, make)
        environment.run(8_000)
        sizes = [len(partitions) for partitions in environment.owned().values()]
        assert (sum(sizes), max(sizes)) == (6, 6 // count)
    environment.close("m1")
    environment.run(8_000)
    assert sorted(n for owned in environment.owned().values() for n in owned) == list(range(6))
    environment.kill("m0")
    environment.run(20_000)
    assert environment.owned() == {"m2": [0, 1, 2, 3, 4, 5]}
    assert environment.violated() == []


def test_a_cooperative_group_needs_a_second_round_only_for_what_moves(environment: Environment) -> None:
    environment.start("m0", cooperative)
    environment.run(5_000)
    assert environment.generations() == 1
    environment.start("m1", cooperative)
    environment.run(8_000)
    assert environment.generations() == 3
    moved = [e.partitions for e in environment.events if isinstance(e, PartitionsRevoked)]
    assert [len(partitions) for partitions in moved] == [3]
    environment.close("m1")
    environment.run(8_000)
    assert environment.generations() == 4, "what a leaver gave up is free at once"


def test_sticky_keeps_partitions_although_everybody_gives_up_everything(environment: Environment) -> None:
    for member in ("m0", "m1"):
        environment.start(member, sticky)
        environment.run(8_000)
    before = environment.owned()
    environment.start("m2", sticky)
    environment.run(8_000)
    after = environment.owned()
    assert all(set(after[member]) <= set(before[member]) for member in before)


def test_the_second_rolling_restart_of_an_upgrade_is_safe(environment: Environment) -> None:
    """Members with both assignors are EAGER, members with cooperative-sticky alone are COOPERATIVE (KIP-429)."""

    def both() -> Sequence[Assignor]:
        return [CooperativeStickyAssignor(), RangeAssignor()]

    for member, make in [("m0", both), ("m1", cooperative), ("m2", both)]:
        environment.start(member, make)
        environment.run(8_000)
    assert [len(owned) for owned in environment.owned().values()] == [2, 2, 2]
    assert environment.violated() == []


def test_a_member_without_a_common_assignor_is_refused_and_the_others_go_on(environment: Environment) -> None:
    environment.start("m0", eager)
    environment.run(5_000)
    environment.start("m1", cooperative)
    with pytest.raises(GroupError) as refused:
        environment.run(5_000)
    assert refused.value.error is Error.INCONSISTENT_GROUP_PROTOCOL
    environment.kill("m1")
    environment.run(5_000)
    assert environment.owned() == {"m0": [0, 1, 2, 3, 4, 5]}


@each_protocol
def test_an_application_that_stalls_becomes_a_zombie_and_loses_everything_when_it_polls(
    environment: Environment, make: Make
) -> None:
    for member in ("m0", "m1"):
        environment.start(member, make)
        environment.run(8_000)
    environment.stalled.add("m0")
    environment.run(45_000)
    held = environment.owned()
    assert held["m1"] == [0, 1, 2, 3, 4, 5], "the group went on without it"
    assert held["m0"] != [], "and it does not know"
    assert [e.reason for e in environment.events if isinstance(e, MembershipLost)] == ["poll timeout expired"]
    environment.stalled.clear()
    environment.run(10_000)
    lost = [e for e in environment.events if isinstance(e, PartitionsLost)]
    assert [e.member for e in lost] == ["m0"]
    assert [len(owned) for owned in environment.owned().values()] == [3, 3]
    assert environment.violated() == []


def test_a_stalled_cooperative_member_is_waited_for_and_then_left_behind(environment: Environment) -> None:
    """Its heartbeats go on, so only the rebalance timeout removes it."""
    environment.start("m0", cooperative)
    environment.run(5_000)
    environment.stalled.add("m0")
    environment.start("m1", cooperative)
    environment.run(29_000)
    assert environment.consumer("m1").state is MemberState.PREPARING_REBALANCE
    environment.run(10_000)
    assert environment.consumer("m1").owned == tuple(TopicPartition("t", n) for n in range(6))
    assert environment.violated() == []


def test_a_static_member_returns_without_a_rebalance(environment: Environment) -> None:
    for member in ("m0", "m1"):
        environment.start(member, eager, instance=f"i-{member}")
        environment.run(8_000)
    before, generation = environment.owned(), environment.generations()
    environment.kill("m1")
    environment.run(2_000)
    environment.start("m1", eager, instance="i-m1")
    environment.run(5_000)
    assert (environment.owned(), environment.generations()) == (before, generation)


def test_a_second_process_of_one_instance_id_fences_the_first(environment: Environment) -> None:
    environment.start("m0", eager, instance="i")
    environment.run(5_000)
    environment.start("m1", eager, instance="i")
    with pytest.raises(GroupError, match="FENCED_INSTANCE_ID"):
        environment.run(10_000)
    assert environment.violated() == []


def test_a_leader_that_learns_of_new_partitions_deals_them(environment: Environment) -> None:
    for member in ("m0", "m1"):
        environment.start(member, cooperative)
        environment.run(8_000)
    for member in ("m0", "m1"):
        environment.consumer(member).update_metadata({"t": 8})
    environment.run(8_000)
    assert sorted(n for owned in environment.owned().values() for n in owned) == list(range(8))
    assert environment.violated() == []


def test_a_leader_that_does_not_withhold_makes_two_owners__and_the_judge_says_so(environment: Environment) -> None:
    with planted("cooperative-leader-does-not-withhold"):
        for member in ("m0", "m1"):
            environment.start(member, cooperative)
            environment.run(8_000)
    assert "no_double_ownership" in environment.violated()


def test_eager_members_that_keep_their_partitions_make_two_owners__and_the_judge_says_so(
    environment: Environment,
) -> None:
    with planted("eager-keeps-partitions-while-joining"):
        for member in ("m0", "m1"):
            environment.start(member, eager)
            environment.run(8_000)
    assert "no_double_ownership" in environment.violated()


def test_the_same_environment_gives_the_same_history() -> None:
    histories = []
    for _ in range(2):
        environment = Environment()
        for member in ("m0", "m1", "m2"):
            environment.start(member, cooperative)
            environment.run(4_000)
        environment.kill("m1")
        environment.run(20_000)
        histories.append(environment.events)
    assert histories[0] == histories[1]
    assert any(isinstance(event, PartitionsAssigned) for event in histories[0])
