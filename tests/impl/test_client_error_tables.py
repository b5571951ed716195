"""The contract between a member and what it coordinates: callbacks, exceptions and timers.

What a member does about each error stands in ``tests/data/clients/errors.scenario``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.client.generation import Generation, MemberState
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    HeartbeatReply,
    HeartbeatRequest,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupRequest,
    MemberRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, MembershipLost
from tests.impl.found_coordinator import found_in, with_coordinator

CONFIG = ClientConfig(group_id="g", client_id="c", session_timeout_ms=10_000, rebalance_timeout_ms=60_000)


class Plain(Coordinator):
    """The smallest member: it notes its callbacks, and assigns b"yours" to everybody."""

    def __init__(self, config: ClientConfig, recorder: Recorder) -> None:
        super().__init__(config, recorder, member="m0")
        self.calls: list[tuple[object, ...]] = []
        self.prepared = True
        self.trouble: Exception | None = None

    def protocol_type(self) -> str:
        return "plain"

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        return [("p", b"me")]

    def on_join_prepare(self, generation_id: int, member_id: str) -> bool:
        self.calls.append(("prepare", generation_id, member_id))
        return self.prepared

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[JoinedMember]) -> Mapping[str, bytes]:
        if self.trouble is not None:
            raise self.trouble
        self.calls.append(("assign", leader_id, protocol))
        return {member.member_id: b"yours" for member in members}

    def on_join_complete(self, generation_id: int, member_id: str, protocol: str, assignment: bytes) -> None:
        self.calls.append(("complete", generation_id, member_id, protocol, assignment))
        if self.trouble is not None:
            raise self.trouble

    def on_leave_prepare(self) -> None:
        self.calls.append(("leave",))


@dataclass
class Bench:
    """A member on the bench: the test plays the coordinator."""

    config: ClientConfig = CONFIG
    now_ms: int = 0
    events: list[Event] = field(default_factory=list)
    sent: list[tuple[int, MemberRequest]] = field(default_factory=list)

    def __post_init__(self) -> None:
        recorder = Recorder("g", "m0", lambda: self.now_ms, self.events.append)
        self.member = with_coordinator(Plain(self.config, recorder))
        self.events.clear()

    def poll(self, after_ms: int = 0) -> None:
        self.now_ms += after_ms
        try:
            self.member.poll(self.now_ms)
        finally:
            self.sent += self.member.take_requests()
        if found_in(self.sent, self.member, self.now_ms):
            self.poll()

    def tick(self, after_ms: int = 0) -> None:
        self.now_ms += after_ms
        self.member.tick(self.now_ms)
        self.sent += self.member.take_requests()

    def take(self) -> MemberRequest:
        """The one request that was sent since the last look."""
        ((self.last, request),) = self.sent
        self.sent.clear()
        return request

    def answer(self, reply: GroupReply | None, to: int | None = None) -> None:
        self.member.receive(self.last if to is None else to, reply, self.now_ms)
        self.sent += self.member.take_requests()

    def join(self, generation: int = 1) -> None:
        """Up to SyncGroup, as a follower."""
        self.poll()
        assert isinstance(self.take(), JoinGroupRequest)
        self.answer(joined(generation))
        self.poll()
        assert isinstance(self.take(), SyncGroupRequest)

    def stable(self, generation: int = 1) -> None:
        self.join(generation)
        self.answer(SyncGroupReply(assignment=b"yours"))
        self.poll()
        assert self.member.state is MemberState.STABLE

    def heartbeat(self) -> None:
        self.tick(CONFIG.heartbeat_interval_ms)
        assert isinstance(self.take(), HeartbeatRequest)

    @property
    def prepares(self) -> list[tuple[object, ...]]:
        return [call[1:] for call in self.member.calls if call[0] == "prepare"]

    @property
    def losses(self) -> list[tuple[int, str]]:
        return [(e.generation, e.reason) for e in self.events if isinstance(e, MembershipLost)]


def joined(generation: int = 1, leader: str = "other", **more: object) -> JoinGroupReply:
    fields: dict[str, object] = {"generation_id": generation, "protocol_name": "p", "leader": leader, "member_id": "id"}
    return JoinGroupReply(**(fields | more))  # type: ignore[arg-type]  # the test names its own fields


@pytest.fixture
def bench() -> Bench:
    return Bench()


NONE = Generation(-1, "", None)
KEPT = Generation(-1, "id", None)
FIRST, SECOND = Generation(1, "id", "p"), Generation(2, "id", "p")
AT_ONCE, BACKOFF, FATAL = "at once", "after the backoff", "fatal"


def next_join(bench: Bench) -> str:
    """When the member sends its next JoinGroup by itself."""
    try:
        bench.poll()
    except GroupError:
        return FATAL
    if not bench.sent:
        assert bench.member.next_poll() == bench.now_ms + CONFIG.retry_backoff_ms
        bench.poll(CONFIG.retry_backoff_ms - 1)
        assert bench.sent == []
        bench.poll(1)
        assert isinstance(bench.take(), JoinGroupRequest)
        return BACKOFF
    assert isinstance(bench.take(), JoinGroupRequest)
    return AT_ONCE


# ---------------------------------------------------------------------------------------------------- late replies


def late_join_answer(bench: Bench) -> None:
    """The answer to an attempt that was given up arrives while the next attempt is under way."""
    bench.poll()
    bench.take()
    abandoned = bench.last
    bench.answer(None)
    assert next_join(bench) == BACKOFF
    bench.answer(joined(7), to=abandoned)
    bench.poll()


def test_an_answer_to_an_abandoned_join_is_applied__by_the_planted_defect(bench: Bench) -> None:
    with planted("outdated-join-reply-applied"):
        late_join_answer(bench)
    assert bench.member.generation() == Generation(7, "id", "p")


def test_an_error_of_an_older_generation_proves_the_session(bench: Bench) -> None:
    old = late_heartbeat(bench)
    start_ms = bench.now_ms
    bench.tick(1_000)
    bench.answer(HeartbeatReply(error=Error.UNKNOWN_MEMBER_ID), to=old)
    bench.tick(start_ms + CONFIG.session_timeout_ms - bench.now_ms)
    assert not bench.member.coordinator_unknown()


def test_an_error_of_an_older_generation_resets__by_the_planted_defect(bench: Bench) -> None:
    with planted("stale-response-resets-generation"):
        bench.answer(HeartbeatReply(error=Error.ILLEGAL_GENERATION), to=late_heartbeat(bench))
    assert bench.member.generation() == KEPT


def late_heartbeat(bench: Bench) -> int:
    """A heartbeat of generation 1 that is still unanswered in generation 2."""
    bench.stable()
    bench.heartbeat()
    old = bench.last
    bench.member.request_rejoin("test")
    bench.stable(generation=2)
    return old


# ---------------------------------------------------------------------------------------------------- timers


def test_heartbeats_run_between_join_and_sync_and_not_while_joining(bench: Bench) -> None:
    bench.poll()
    bench.take()
    bench.tick(30_000)
    assert (bench.sent, bench.member.next_deadline()) == ([], None)
    assert bench.member.time_to_next_heartbeat(bench.now_ms) is None
    bench.answer(joined())
    bench.poll()
    bench.take()
    assert bench.member.next_deadline() == bench.now_ms + CONFIG.heartbeat_interval_ms
    assert bench.member.time_to_next_heartbeat(bench.now_ms + 1_000) == CONFIG.heartbeat_interval_ms - 1_000
    bench.heartbeat()


# ---------------------------------------------------------------------------------------------------- the contract


def test_prepare_that_is_not_finished_is_called_again_and_joins_later(bench: Bench) -> None:
    bench.member.prepared = False
    bench.poll()
    bench.poll()
    assert (bench.sent, len(bench.prepares)) == ([], 2)
    bench.member.prepared = True
    bench.poll()
    assert isinstance(bench.take(), JoinGroupRequest)
    bench.poll()
    assert len(bench.prepares) == 3


def test_complete_that_raised_is_called_again_with_the_same_bytes(bench: Bench) -> None:
    bench.join()
    bench.answer(SyncGroupReply(assignment=b"yours"))
    bench.member.trouble = RebalanceCheckError("not now")
    for _ in range(2):
        with pytest.raises(RebalanceCheckError, match="not now"):
            bench.poll()
    bench.member.trouble = None
    bench.poll()
    assert [c for c in bench.member.calls if c[0] == "complete"] == [("complete", 1, "id", "p", b"yours")] * 3
    assert not bench.member.rejoin_needed_or_pending()


def test_an_assignment_that_cannot_be_computed_surfaces_from_poll(bench: Bench) -> None:
    bench.member.trouble = RebalanceCheckError("no idea")
    bench.poll()
    bench.take()
    bench.answer(joined(leader="id", members=(JoinedMember("id", b"me"),)))
    with pytest.raises(RebalanceCheckError, match="no idea"):
        bench.poll()
    bench.member.trouble = None
    bench.poll()
    assert isinstance(bench.take(), JoinGroupRequest)


def test_a_leader_sends_everybody_an_assignment(bench: Bench) -> None:
    bench.poll()
    bench.take()
    bench.answer(joined(leader="id", members=(JoinedMember("id", b"me"), JoinedMember("x", b"x"))))
    bench.poll()
    request = bench.take()
    assert isinstance(request, SyncGroupRequest)
    assert {one.member_id: one.assignment for one in request.assignments} == {"id": b"yours", "x": b"yours"}


def test_generation_if_stable_is_there_only_when_stable(bench: Bench) -> None:
    seen: list[Generation | None] = []
    steps: list[Callable[[], None]] = [
        bench.join,
        lambda: bench.answer(SyncGroupReply(assignment=b"yours")),
        bench.poll,
    ]
    for step in steps:
        step()
        seen.append(bench.member.generation_if_stable())
    assert seen == [None, FIRST, FIRST]
    assert bench.member.generation() == FIRST


def test_closing_leaves_and_is_the_last_word(bench: Bench) -> None:
    bench.stable()
    assert bench.member.close(bench.now_ms)
    bench.sent += bench.member.take_requests()
    assert isinstance(bench.take(), LeaveGroupRequest)
    bench.answer(HeartbeatReply())
    bench.tick(100_000)
    assert (bench.sent, bench.member.next_poll(), bench.member.next_deadline()) == ([], None, None)
    assert (bench.member.calls[-1], bench.losses) == (("leave",), [])
    with pytest.raises(RebalanceCheckError, match="start a new member"):
        bench.poll()


def test_a_heartbeat_interval_beyond_the_session_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="heartbeat_interval_ms is 10000"):
        ClientConfig(group_id="g", session_timeout_ms=10_000, heartbeat_interval_ms=10_000)
