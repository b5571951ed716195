"""A member that the application's thread and the heartbeat thread use at once: every schedule with one preemption."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.committing import Commit, CommitOutcome
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.listener import RebalanceListener
from rebalance_check.impl.mutants import Mutant, ScenarioSearch, planted
from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.protocol.consumer_protocol import Assignment, write_assignment
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorReply,
    FindCoordinatorRequest,
    HeartbeatReply,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    MemberReply,
    MemberRequest,
    OffsetCommitReply,
    OffsetCommitRequest,
    SyncGroupReply,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.driver.sockets import Member
from rebalance_check.model.vocabulary.errors import Error
from tests.two_threads import SteppedMonitor, TwoThreads, schedules

OURS = "impl/client/"
PARTITION = TopicPartition("t", 0)
DUE_MS = 3_000
"""When the first heartbeat is due."""


def reply_to(request: MemberRequest) -> MemberReply:
    """A coordinator's reply to a follower."""
    match request:
        case FindCoordinatorRequest():
            return FindCoordinatorReply(node_id=0, host="h", port=9)
        case JoinGroupRequest():
            return JoinGroupReply(generation_id=1, protocol_name="range", leader="x", member_id="m0-1")
        case HeartbeatRequest():
            return HeartbeatReply()
        case OffsetCommitRequest():
            return OffsetCommitReply(partitions=(("t", 0, Error.NONE),))
        case _:
            return SyncGroupReply(assignment=write_assignment(Assignment(partitions=(PARTITION,))))


class Committing(RebalanceListener):
    """Commits when it is assigned partitions, as an application may; the other thread has its chance meanwhile."""

    def __init__(self, threads: TwoThreads) -> None:
        self.threads = threads
        self.client: ConsumerCoordinator
        self.commit: Commit | None = None
        self.has_waited = False

    def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        assert self.client.owned == tuple(partitions)
        self.commit = self.client.commit({PARTITION: 5}, DUE_MS)
        if not self.threads.is_second_over:
            self.threads.give_way()
            self.has_waited = not self.threads.is_second_over


def network(client: ConsumerCoordinator) -> None:
    """The heartbeat thread: a heartbeat that is due, and every request is carried and answered."""
    with client.monitor:
        client.tick(DUE_MS)
        for number, request in client.take_requests():
            client.receive(number, reply_to(request), DUE_MS)


def about_to_complete(threads: TwoThreads) -> tuple[ConsumerCoordinator, Committing]:
    """A consumer whose next poll calls its listener."""
    listener = Committing(threads)
    client = listener.client = ConsumerCoordinator(
        ClientConfig(group_id="g", client_id="m0"), Recorder("g", "m0", lambda: 0, lambda _: None), member="m0",
        topics=("t",), assignors=[RangeAssignor()], partitions_per_topic={"t": 1}, listener=listener,
    )  # fmt: skip
    client.monitor = SteppedMonitor(threads)
    for _ in range(3):
        with client.monitor:
            client.poll(0)
        [(number, request)] = client.take_requests()
        client.receive(number, reply_to(request), 0)
    return client, listener


def completes(threads: TwoThreads) -> None:
    """Both threads at once: the commit is answered, the heartbeat goes on, no request is lost."""
    client, listener = about_to_complete(threads)

    def application() -> None:
        with client.monitor:
            client.poll(DUE_MS)

    threads.run(application, lambda: network(client))
    network(client)  # what came later
    assert not listener.has_waited, "the heartbeat thread waits for a callback"
    assert listener.commit is not None
    assert listener.commit.outcome is CommitOutcome.COMMITTED, "a reply was taken for that of no request"
    assert client.metric_values(DUE_MS)["heartbeat-total"] == 1
    assert client.owned == (PARTITION,)


class Shared:
    """In the place of what a member drives: notices that two threads are in it."""

    def __init__(self) -> None:
        self.is_used = False

    def use(self, _now_ms: int) -> None:
        assert not self.is_used, "both threads use the member"
        self.is_used = True
        self.is_used = bool(self.is_used)
        self.is_used = False

    poll = advance = use

    def take_orders(self) -> list[object]:
        return []

    def next_ms(self) -> int | None:
        return None

    next_poll = next_ms


def polls(member: Member[ConsumerCoordinator], _: Shared) -> None:
    """The application polls."""
    member._poll_once()


def calls(member: Member[ConsumerCoordinator], shared: Shared) -> None:
    """The application asks its coordinator something between two polls."""
    member.call(lambda _: shared.use(DUE_MS))


USES = {"polls": polls, "calls": calls}


def drives(threads: TwoThreads, use: str = "polls") -> None:
    """The application uses a driven member while its thread lets it advance."""
    client, _ = about_to_complete(threads)
    member = Member(client, "127.0.0.1:9")
    thread, shared = member._thread, Shared()
    thread.driven, thread.monitor = shared, SteppedMonitor(threads)  # type: ignore[assignment]  # all that is used of it
    member._require_connection = lambda: None  # type: ignore[method-assign]  # no thread runs

    def in_the_thread() -> None:
        thread._do(shared.advance)

    threads.run(lambda: USES[use](member, shared), in_the_thread)
    if thread.fault is not None:
        raise thread.fault


def edited(function: str, old: str, new: str) -> Mutant:
    edit = Edit(f"rebalance_check.{function}", old, new)
    return Mutant(name="edited", what="", caught_by="differs", where="impl", find=ScenarioSearch(), edits=(edit,))


def test_in_every_schedule_the_commit_of_a_callback_is_answered_and_heartbeats_go_on() -> None:
    assert schedules(OURS, completes) > 60


@pytest.mark.parametrize("use", USES)
def test_in_every_schedule_one_thread_uses_a_driven_member(use: str) -> None:
    assert schedules("tests/integration/test_member", partial(drives, use=use)) >= 4


@pytest.mark.parametrize(
    ("function", "old", "new", "said"),
    [
        ("impl.client.core:CoordinatorCore._send", "with self.monitor:", "if True:", "taken for that of no request"),
        ("impl.client.coordinator:Coordinator._finish", ", assignment), self.monitor.released():", ", assignment):",
         "the heartbeat thread waits for a callback"),
    ],
    ids=["no lock around a send", "the lock is held during callbacks"],
)  # fmt: skip
def test_without_the_monitor_some_schedule_fails(function: str, old: str, new: str, said: str) -> None:
    with planted(edited(function, old, new)), pytest.raises(AssertionError, match=said):
        schedules(OURS, completes)


@pytest.mark.parametrize(
    ("function", "use"),
    [("sockets:Member._poll_once", "polls"), ("sockets:Member.call", "calls"), ("thread:MemberThread._do", "polls")],
)
def test_a_driver_that_does_not_take_the_monitor_is_seen(function: str, use: str) -> None:
    kind = "self._thread.monitor" if function.startswith("sockets") else "self.monitor"
    mutant = edited(f"integration.driver.{function}", f"with {kind}:", "if True:")
    with planted(mutant), pytest.raises(AssertionError, match="both threads use the member"):
        schedules("tests/integration/test_member", partial(drives, use=use))
