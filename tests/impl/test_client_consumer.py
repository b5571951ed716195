"""A consumer's callbacks and commits: what is revoked, lost and assigned, and when a commit may be sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.client.committing import Commit, CommitOutcome
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.client.listener import RebalanceListener
from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    Subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorReply,
    FindCoordinatorRequest,
    HeartbeatReply,
    HeartbeatRequest,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    MemberReply,
    MemberRequest,
    OffsetCommitReply,
    OffsetCommitRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, OffsetCommitted
from tests.impl.found_coordinator import with_coordinator

T0, T1, T2, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("t", 2), TopicPartition("u", 0)
CONFIG = ClientConfig(group_id="g", client_id="c", session_timeout_ms=10_000, rebalance_timeout_ms=60_000)


class Notes(RebalanceListener):
    """Writes down each callback and what was owned then; fails when asked to."""

    def __init__(self) -> None:
        self.member: ConsumerCoordinator
        self.calls: list[tuple[str, list[TopicPartition], list[TopicPartition]]] = []
        self.trouble: dict[str, Exception] = {}

    def _note(self, what: str, partitions: Sequence[TopicPartition]) -> None:
        self.calls.append((what, list(partitions), list(self.member.owned)))
        if what in self.trouble:
            raise self.trouble[what]

    def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        self._note("assigned", partitions)

    def on_partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        self._note("revoked", partitions)

    def on_partitions_lost(self, partitions: Sequence[TopicPartition]) -> None:
        self._note("lost", partitions)


@dataclass
class Bench:
    """A consumer on the bench; the test plays the coordinator, which answers in the name of the member id ``id``."""

    assignors: Sequence[Assignor]
    auto_commit_ms: int | None = None
    now_ms: int = 0
    events: list[Event] = field(default_factory=list)
    sent: list[tuple[int, MemberRequest]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.notes = Notes()
        self.member = self.notes.member = ConsumerCoordinator(
            CONFIG,
            Recorder("g", "m0", lambda: self.now_ms, self.events.append),
            member="m0",
            topics=["t", "u"],
            assignors=self.assignors,
            partitions_per_topic={"t": 3, "u": 1},
            listener=self.notes,
            auto_commit_ms=self.auto_commit_ms,
        )
        with_coordinator(self.member)
        self.events.clear()

    def poll(self, after_ms: int = 0) -> None:
        self.now_ms += after_ms
        try:
            self.member.poll(self.now_ms)
        finally:
            self.sent += self.member.take_requests()

    def take(self) -> MemberRequest:
        ((self.last, request),) = self.sent
        self.sent.clear()
        return request

    def answer(self, reply: MemberReply | None) -> None:
        self.member.receive(self.last, reply, self.now_ms)
        self.sent += self.member.take_requests()

    def answer_join(self, generation: int) -> None:
        assert isinstance(self.take(), JoinGroupRequest)
        name = self.assignors[0].name
        self.answer(JoinGroupReply(generation_id=generation, protocol_name=name, leader="other", member_id="id"))
        self.poll()
        assert isinstance(self.take(), SyncGroupRequest)

    def answer_sync(self, *partitions: TopicPartition) -> None:
        self.answer(SyncGroupReply(assignment=write_assignment(Assignment(partitions=partitions))))
        self.poll()

    def settle(self, generation: int, *partitions: TopicPartition) -> None:
        """Join ``generation`` and be assigned ``partitions``."""
        self.poll()
        self.answer_join(generation)
        self.answer_sync(*partitions)

    def rebalance(self) -> None:
        """The coordinator says that others want to join."""
        self.heartbeat(Error.REBALANCE_IN_PROGRESS)
        self.poll()

    def heartbeat(self, error: Error) -> None:
        self.now_ms += 3_000
        self.member.tick(self.now_ms)
        self.sent += self.member.take_requests()
        assert isinstance(self.take(), HeartbeatRequest)
        self.answer(HeartbeatReply(error=error))

    def commit(self, **offsets: int) -> Commit:
        commit = self.member.commit({TopicPartition("t", int(key[1:])): at for key, at in offsets.items()}, self.now_ms)
        self.sent += self.member.take_requests()
        return commit

    def answer_commit(self, error: Error, *partitions: TopicPartition) -> None:
        self.answer(OffsetCommitReply(partitions=tuple((tp.topic, tp.partition, error) for tp in partitions)))

    def callbacks(self) -> list[tuple[str, list[TopicPartition]]]:
        """The callbacks since the last look."""
        calls, self.notes.calls = self.notes.calls, []
        return [(what, partitions) for what, partitions, _ in calls]


@pytest.fixture
def eager() -> Bench:
    bench = Bench([RangeAssignor()])
    bench.settle(1, T0, T1)
    assert bench.callbacks() == [("assigned", [T0, T1])]
    return bench


@pytest.fixture
def cooperative() -> Bench:
    bench = Bench([CooperativeStickyAssignor()])
    bench.settle(1, T0, T1)
    assert bench.callbacks() == [("assigned", [T0, T1])]
    return bench


# ---------------------------------------------------------------------------------------------------- the protocol


def test_the_protocol_is_the_highest_that_all_assignors_support() -> None:
    assert Bench([CooperativeStickyAssignor()]).member.protocol is RebalanceProtocol.COOPERATIVE
    assert Bench([RangeAssignor(), CooperativeStickyAssignor()]).member.protocol is RebalanceProtocol.EAGER


def test_two_assignors_of_one_name_are_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="each only once"):
        Bench([RangeAssignor(), RangeAssignor()])


# ---------------------------------------------------------------------------------------------------- the callbacks


def test_revoked_partitions_are_owned_until_the_callback_returns(eager: Bench) -> None:
    eager.notes.calls.clear()
    eager.rebalance()
    assert eager.notes.calls == [("revoked", [T0, T1], [T0, T1])]


def test_an_assignment_without_bytes_is_raised_by_every_poll_while_the_partitions_stay(cooperative: Bench) -> None:
    cooperative.rebalance()
    cooperative.answer_join(2)
    cooperative.answer(SyncGroupReply(assignment=b""))
    for _ in range(2):
        with pytest.raises(RebalanceCheckError, match="consumer assignment"):
            cooperative.poll()
    assert (cooperative.member.owned, cooperative.member.state) == ((T0, T1), MemberState.STABLE)


# ---------------------------------------------------------------------------------------------------- the leader


class Careless(RoundRobinAssignor):
    """Claims to be fit for COOPERATIVE members and moves their partitions at once."""

    name = "careless"
    protocols = frozenset({RebalanceProtocol.COOPERATIVE})


def test_a_cooperative_leader_refuses_to_move_a_partition_in_one_step() -> None:
    bench = Bench([Careless()])
    bench.poll()
    bench.take()
    owner = Subscription(topics=("t",), owned=(T0, T1, T2), generation=1)
    members = (
        JoinedMember("id", write_subscription(Subscription(topics=("t",)))),
        JoinedMember("x", write_subscription(owner)),
    )
    bench.answer(
        JoinGroupReply(generation_id=2, protocol_name="careless", leader="id", member_id="id", members=members)
    )
    with pytest.raises(RebalanceCheckError, match="moves t-0 straight"):
        bench.poll()


# ---------------------------------------------------------------------------------------------------- commits


def test_a_commit_without_an_answer_stays_unknown(eager: Bench) -> None:
    commit = eager.commit(t0=5)
    eager.take()
    eager.answer(None)
    assert (commit.outcome, commit.error) == (CommitOutcome.RETRIABLE, None)
    observed = [e for e in eager.events if isinstance(e, OffsetCommitted)]
    assert [(e.partition, e.offset, e.generation, e.member_id, e.error) for e in observed] == [
        ("t-0", 5, 1, "id", None)
    ]


def test_a_commit_is_tagged_with_the_generation_and_reported_per_partition(eager: Bench) -> None:
    eager.commit(t1=7, t0=5)
    request = eager.take()
    assert isinstance(request, OffsetCommitRequest)
    assert (request.generation_id, request.member_id) == (1, "id")
    eager.answer(OffsetCommitReply(partitions=(("t", 0, Error.NONE), ("t", 1, Error.ILLEGAL_GENERATION))))
    observed = {e.partition: e.error for e in eager.events if isinstance(e, OffsetCommitted)}
    assert observed == {"t-0": "NONE", "t-1": "ILLEGAL_GENERATION"}


# ---------------------------------------------------------------------------------------------------- auto-commit


def committing(assignor: Assignor, auto_commit_ms: int = 5_000) -> Bench:
    bench = Bench([assignor], auto_commit_ms=auto_commit_ms)
    bench.settle(1, T0, T1)
    bench.member.consumed(T0, 5)
    bench.callbacks()
    return bench


def test_a_commit_before_joining_is_repeated_until_the_rebalance_timeout() -> None:
    bench = committing(RangeAssignor())
    bench.rebalance()
    start_ms = bench.now_ms
    bench.take()
    while bench.now_ms < start_ms + CONFIG.rebalance_timeout_ms - 200:
        bench.answer_commit(Error.COORDINATOR_LOAD_IN_PROGRESS, T0)
        bench.poll()
        assert bench.sent == []
        bench.poll(CONFIG.retry_backoff_ms)
        assert isinstance(bench.take(), OffsetCommitRequest)
    bench.poll(300)
    assert bench.callbacks() == [("revoked", [T0, T1])]
    assert isinstance(bench.take(), JoinGroupRequest)


def test_a_commit_that_is_due_waits_for_the_coordinator_without_polls() -> None:
    bench = committing(RangeAssignor(), auto_commit_ms=5_000)
    bench.member.coordinator_disconnected(bench.now_ms)
    bench.poll(6_000)
    assert isinstance(bench.take(), FindCoordinatorRequest)
    assert bench.member.next_poll() is None
    bench.answer(FindCoordinatorReply(node_id=0, host="localhost", port=9092))
    assert (bench.member.next_poll() or 0) <= bench.now_ms
    bench.poll()
    assert isinstance(bench.take(), OffsetCommitRequest)


def test_what_is_not_owned_cannot_be_consumed(eager: Bench) -> None:
    with pytest.raises(RebalanceCheckError, match="does not own t-2"):
        eager.member.consumed(T2, 1)
