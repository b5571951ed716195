"""Short scenarios of one consumer whose coordinator the test plays: what each planted defect does otherwise.

For defects that a healthy group around the member makes up for, or that need two threads in one order.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.mutants import PytestCase, planted
from rebalance_check.impl.mutants.client import CLIENT_MUTANTS
from rebalance_check.impl.protocol.consumer_protocol import Assignment, write_assignment
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    GroupRequest,
    HeartbeatReply,
    JoinGroupReply,
    JoinGroupRequest,
    OffsetCommitReply,
    SyncGroupReply,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

T0 = TopicPartition("t", 0)
CONFIG = ClientConfig(group_id="g", client_id="c", session_timeout_ms=10_000, rebalance_timeout_ms=15_000)


class Script:
    """A consumer, the requests that it sent and nobody answered yet, and what was seen so far."""

    def __init__(self, *assignors: Assignor, auto_commit_ms: int | None = None) -> None:
        self.now_ms = 0
        self.seen: list[str] = []
        self._sent: list[tuple[int, GroupRequest]] = []
        self.assignors = assignors or (RangeAssignor(),)
        self.member = ConsumerCoordinator(
            CONFIG, Recorder("g", "m0", lambda: self.now_ms, None), member="m0", topics=["t"],
            assignors=self.assignors, partitions_per_topic={"t": 1}, auto_commit_ms=auto_commit_ms,
        )  # fmt: skip

    def poll(self, after_ms: int = 0) -> None:
        """The application polls; what it raises is seen."""
        self.now_ms += after_ms
        try:
            self.member.poll(self.now_ms)
        except RebalanceCheckError as error:
            self.seen.append(f"raised {type(error).__name__}")
        self.take()

    def tick(self, after_ms: int) -> None:
        """The heartbeat thread wakes up."""
        self.now_ms += after_ms
        self.member.tick(self.now_ms)
        self.take()

    def take(self) -> None:
        """See what is sent."""
        for number, request in self.member.take_requests():
            self.seen.append(type(request).__name__.removesuffix("Request"))
            self._sent.append((number, request))

    def answer(self, reply: GroupReply) -> GroupRequest:
        """Answer the request that waits for longest."""
        number, request = self._sent.pop(0)
        self.member.receive(number, reply, self.now_ms)
        self.take()
        return request

    def join(self, generation: int = 1) -> None:
        """From the poll that sends JoinGroup to the SyncGroup on the wire."""
        self.poll()
        protocol = self.assignors[0].name
        self.answer(JoinGroupReply(generation_id=generation, protocol_name=protocol, leader="other", member_id="id"))
        self.poll()

    def settle(self, generation: int = 1) -> None:
        """To a stable member that owns t-0; nothing of it counts as seen."""
        self.join(generation)
        self.answer(SyncGroupReply(assignment=write_assignment(Assignment(partitions=(T0,)))))
        self.poll()
        self.seen.clear()


def the_order_of_assignors() -> list[str]:
    script = Script(RoundRobinAssignor(), RangeAssignor())
    script.poll()
    request = script.answer(HeartbeatReply())
    assert isinstance(request, JoinGroupRequest)
    return [protocol.name for protocol in request.protocols]


def the_poll_interval_ends_before_an_assignment_is_applied() -> list[str]:
    script = Script()
    script.join()
    script.answer(SyncGroupReply(assignment=write_assignment(Assignment(partitions=(T0,)))))
    script.tick(9_000)
    script.answer(HeartbeatReply())
    script.tick(6_000)
    script.poll()
    return script.seen


def a_sync_that_the_coordinator_does_not_take() -> list[str]:
    script = Script()
    script.join()
    script.answer(SyncGroupReply(error=Error.NOT_COORDINATOR))
    script.poll()
    script.poll(1_000)
    return script.seen


def a_heartbeat_during_a_rebalance() -> list[str]:
    script = Script()
    script.settle()
    script.tick(3_000)
    script.answer(HeartbeatReply(error=Error.REBALANCE_IN_PROGRESS))
    script.poll()
    return script.seen


def a_cooperative_member_unsubscribes() -> list[str]:
    script = Script(CooperativeStickyAssignor())
    script.settle()
    script.member.unsubscribe(script.now_ms)
    script.take()
    return script.seen


def a_commit_before_an_eager_rebalance() -> Script:
    script = Script(auto_commit_ms=5_000)
    script.settle()
    script.member.consumed(T0, 7)
    script.member.request_rejoin("test")
    script.poll()
    return script


def records_while_the_last_commit_is_under_way() -> list[str]:
    script = a_commit_before_an_eager_rebalance()
    return [*script.seen, *(tp.name for tp in script.member.fetchable())]


def polls_while_the_last_commit_is_under_way() -> list[str]:
    script = a_commit_before_an_eager_rebalance()
    script.poll(100)
    script.answer(OffsetCommitReply(partitions=(("t", 0, Error.NONE),)))
    script.poll(100)
    return script.seen


Scenario = Callable[[], list[str]]
LEFT = ["JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "JoinGroup"]

SCENARIOS: dict[str, tuple[Scenario, list[str]]] = {
    "strategy-preference-order-ignored": (the_order_of_assignors, ["roundrobin", "range"]),
    "heartbeat-thread-clears-generation-before-completion": (
        the_poll_interval_ends_before_an_assignment_is_applied, LEFT,
    ),
    "join-future-not-cleared-after-reset": (the_poll_interval_ends_before_an_assignment_is_applied, LEFT),
    "rejoin-flag-cleared-at-join-not-sync": (
        a_sync_that_the_coordinator_does_not_take, ["JoinGroup", "SyncGroup", "JoinGroup"],
    ),
    "all-heartbeat-errors-mark-coordinator-dead": (a_heartbeat_during_a_rebalance, ["Heartbeat", "JoinGroup"]),
    "cooperative-unsubscribe-skips-leave": (a_cooperative_member_unsubscribes, ["LeaveGroup"]),
    "fetch-continues-while-commit-before-revoke": (records_while_the_last_commit_is_under_way, ["OffsetCommit"]),
    "prepare-commit-restarted-every-poll": (
        polls_while_the_last_commit_is_under_way, ["OffsetCommit", "JoinGroup"],
    ),
}  # fmt: skip
"""By mutant: the scenario, and what a healthy member does in it."""


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_healthy_member_does_what_is_expected(name: str) -> None:
    scenario, expected = SCENARIOS[name]
    assert scenario() == expected


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_member_does_otherwise__with_the_mutant(name: str) -> None:
    scenario, expected = SCENARIOS[name]
    with planted(name):
        assert scenario() != expected


def test_every_mutant_that_needs_a_scenario_has_one() -> None:
    told = {mutant.name for mutant in CLIENT_MUTANTS if isinstance(mutant.find, PytestCase) and not mutant.find.case}
    assert set(SCENARIOS) == told
