"""A member of the abstract coordinator (KIP-795), call by call: with which arguments, when, under which lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Thread
from typing import Final

import pytest

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.client.generation import NO_MEMBERSHIP, Generation, MemberState
from rebalance_check.impl.client.monitor import Monitor
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorRequest,
    HeartbeatReply,
    HeartbeatRequest,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupRequest,
    MemberReply,
    MemberRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback
from rebalance_check.model.vocabulary.errors import Error
from tests.impl.found_coordinator import FOUND, with_coordinator

CONFIG: Final = ClientConfig(group_id="g", client_id="c", session_timeout_ms=10_000, rebalance_timeout_ms=60_000)
LED: Final = JoinGroupReply(
    generation_id=1, protocol_name="p", leader="id", member_id="id", members=(JoinedMember("id", b"1"),)
)
FOLLOWED: Final = JoinGroupReply(generation_id=1, protocol_name="p", leader="x", member_id="id")
SYNCED: Final = SyncGroupReply(assignment=b"yours")
HEARTBEAT_MS: Final = CONFIG.heartbeat_interval_ms


class Plain(Coordinator):
    """The five methods that a member needs."""

    def protocol_type(self) -> str:
        return "plain"

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        return [("p", b"")]

    def on_join_prepare(self, generation_id: int, member_id: str) -> bool:  # noqa: ARG002 - part of the contract
        return True

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[JoinedMember]) -> Mapping[str, bytes]:
        assert (leader_id, protocol) == (self.member_id(), "p")
        return {member.member_id: member.metadata for member in members}

    def on_join_complete(self, generation_id: int, member_id: str, protocol: str, assignment: bytes) -> None:
        """Nothing to apply."""


class Noting(Plain):
    """Notes each call with its arguments, and whether the member's lock was held; each name in ``failing`` raises.

    `on_join_prepare` is finished unless ``prepares`` is False.
    """

    def __init__(self, recorder: Recorder | None = None, *, member: str = "m0") -> None:
        super().__init__(CONFIG, recorder or Recorder("g", member, lambda: 0, lambda _: None), member=member)
        self.calls: list[tuple[object, ...]] = []
        self.held: dict[str, bool] = {}
        self.failing: set[str] = set()
        self.prepares = True

    def _note(self, name: str, *args: object) -> None:
        self.calls.append((name, *args))
        self.held[name] = is_held(self.monitor)
        if name in self.failing:
            raise ZeroDivisionError(name)

    def called(self, name: str) -> list[tuple[object, ...]]:
        return [call[1:] for call in self.calls if call[0] == name]

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        self._note("metadata")
        return [("p", b"%d" % len(self.called("metadata"))), ("q", b"")]

    def on_join_prepare(self, generation_id: int, member_id: str) -> bool:
        self._note("on_join_prepare", generation_id, member_id)
        return self.prepares

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[JoinedMember]) -> Mapping[str, bytes]:
        self._note("perform_assignment", leader_id, protocol, tuple(members))
        return {member.member_id: b"for " + member.member_id.encode() for member in members}

    def on_join_complete(self, generation_id: int, member_id: str, protocol: str, assignment: bytes) -> None:
        self._note("on_join_complete", generation_id, member_id, protocol, assignment)

    def on_leave_prepare(self) -> None:
        self._note("on_leave_prepare")

    def on_poll_timeout(self) -> None:
        self._note("on_poll_timeout")


def is_held(monitor: Monitor) -> bool:
    """Whether another thread would have to wait for the lock."""
    lock, could = getattr(monitor, "_lock", None), list[bool]()

    def attempt() -> None:
        if lock is None or lock.acquire(blocking=False):
            could.append(True)
            if lock is not None:
                lock.release()

    thread = Thread(target=attempt)
    thread.start()
    thread.join()
    return not could


def sent_by(member: Coordinator, kind: type[MemberRequest]) -> int:
    """The number under which the member has just sent its one request, which is of this kind."""
    [(number, request)] = member.take_requests()
    assert isinstance(request, kind)
    return number


def join(member: Coordinator, now_ms: int = 0) -> int:
    """Poll a member until it sends a JoinGroup, and look its coordinator up; the number of the JoinGroup."""
    for later_ms in (0, 0, 200, 200):
        member.poll(now_ms + later_ms)
        for number, request in member.take_requests():
            if isinstance(request, JoinGroupRequest):
                return number
            if isinstance(request, FindCoordinatorRequest):
                member.receive(number, FOUND, now_ms + later_ms)
    raise AssertionError("the member does not join")


def sync(member: Coordinator, joined: JoinGroupReply = FOLLOWED, now_ms: int = 0) -> int:
    """Poll a member until it sends a SyncGroup; its number."""
    member.receive(join(member, now_ms), joined, now_ms)
    member.poll(now_ms)
    return sent_by(member, SyncGroupRequest)


def stable(member: Noting, joined: JoinGroupReply = FOLLOWED, now_ms: int = 0) -> Noting:
    """The member, stable, and polled since."""
    member.receive(sync(member, joined, now_ms), SYNCED, now_ms)
    member.poll(now_ms)
    return member


# ---------------------------------------------------------------------------------------------------- the methods


def test_a_member_needs_five_methods() -> None:
    assert Coordinator.__abstractmethods__ == {
        "protocol_type", "metadata", "on_join_prepare", "perform_assignment", "on_join_complete"
    }  # fmt: skip


def test_a_member_with_these_five_joins__leaves_in_silence__comes_back_and_closes() -> None:
    environment = Loopback()
    member = environment.add(lambda recorder: Plain(CONFIG, recorder, member="m0"), group="g", member="m0")
    environment.run(1_000)
    first = member.generation_if_stable()
    environment.stalled.add("m0")
    environment.run(70_000)
    assert (first is None, member.generation()) == (False, NO_MEMBERSHIP)
    environment.stalled.clear()
    environment.run(1_000)
    second = member.generation_if_stable()
    assert second is not None
    assert second != first
    environment.close("m0")
    assert member.closed


def test_each_join_group_has_metadata_of_its_own__with_the_id_that_the_member_was_given() -> None:
    member = with_coordinator(Noting())
    sent = []
    for reply in (JoinGroupReply(error=Error.MEMBER_ID_REQUIRED, member_id="new"), None):
        member.poll(0)
        [(number, request)] = member.take_requests()
        assert isinstance(request, JoinGroupRequest)
        sent.append(
            (request.member_id, request.protocol_type, tuple((one.name, one.metadata) for one in request.protocols))
        )
        if reply is not None:
            member.receive(number, reply, 0)
    assert sent == [("", "plain", (("p", b"1"), ("q", b""))), ("new", "plain", (("p", b"2"), ("q", b"")))]
    assert (member.member_id(), member.generation()) == ("new", Generation(-1, "new", None))
    assert member.calls == [("on_join_prepare", -1, ""), ("metadata",), ("metadata",)]


def test_what_metadata_raises_comes_out_of_poll__and_nothing_is_sent() -> None:
    member = with_coordinator(Noting())
    member.failing = {"metadata"}
    with pytest.raises(ZeroDivisionError, match="metadata"):
        member.poll(0)
    assert (member.take_requests(), member.state) == ([], MemberState.UNJOINED)


def test_nothing_is_prepared_while_the_coordinator_is_unknown() -> None:
    member = Noting()
    member.poll(0)
    assert member.calls == []
    member.receive(sent_by(member, FindCoordinatorRequest), FOUND, 0)
    member.poll(0)
    assert [name for name, *_ in member.calls] == ["on_join_prepare", "metadata"]


def test_a_member_stays_in_its_generation__with_heartbeats__until_it_is_prepared() -> None:
    member = stable(with_coordinator(Noting()))
    member.prepares = False
    member.request_rejoin("tried")
    for _ in range(2):
        member.poll(0)
    assert member.called("on_join_prepare")[1:] == [(1, "id"), (1, "id")]
    assert member.generation_if_stable() == Generation(1, "id", "p")
    member.tick(HEARTBEAT_MS)
    sent_by(member, HeartbeatRequest)
    member.prepares = True
    join(member, HEARTBEAT_MS)


@pytest.mark.parametrize(
    ("method", "is_under_lock"),
    [
        pytest.param("metadata", True, id="metadata"),
        pytest.param("on_join_prepare", False, id="on_join_prepare"),
        pytest.param("perform_assignment", True, id="perform_assignment"),
        pytest.param("on_join_complete", False, id="on_join_complete"),
        pytest.param("on_poll_timeout", True, id="on_poll_timeout"),
        pytest.param("on_leave_prepare", True, id="on_leave_prepare"),
    ],
)
def test_a_call_is_made_with_the_members_lock__or_without(method: str, is_under_lock: bool) -> None:
    member = Noting()
    member.monitor = Monitor()
    with member.monitor:
        stable(member, LED)
        member.tick(5_000)
        member.receive(sent_by(member, HeartbeatRequest), HeartbeatReply(), 59_999)
        member.tick(60_000)
        member.close(60_000)
    assert member.held[method] is is_under_lock
    assert not is_held(member.monitor)


def two_of(kind: type[Noting]) -> list[Noting]:
    """Two members of one group, at rest."""
    environment = Loopback()
    members = [environment.add(partial(kind, member=name), group="g", member=name) for name in ("m0", "m1")]
    environment.run(10_000)
    return members


def test_the_leader_assigns_from_the_metadata_of_all__and_each_member_gets_its_own_bytes() -> None:
    members = two_of(Noting)
    ids = [one.member_id() for one in members]
    [led] = [one for one in members if one.called("perform_assignment")]
    leader, protocol, joined = led.called("perform_assignment")[-1]
    assert isinstance(joined, tuple)
    assert (leader, protocol, {one.member_id for one in joined}) == (led.member_id(), "p", set(ids))
    assert all(one.metadata for one in joined)
    for one in members:
        generation, member_id, name, assignment = one.called("on_join_complete")[-1]
        assert (generation, member_id, name) == one.generation()
        assert assignment == b"for " + one.member_id().encode()


def test_a_member_that_the_leader_leaves_out_gets_no_bytes() -> None:
    class Greedy(Noting):
        def perform_assignment(
            self, leader_id: str, protocol: str, members: Sequence[JoinedMember]
        ) -> Mapping[str, bytes]:
            return {leader_id: super().perform_assignment(leader_id, protocol, members)[leader_id]}

    members = two_of(Greedy)
    assert b"" in [one.called("on_join_complete")[-1][3] for one in members]


def test_what_raised_on_completion_is_delivered_again__until_the_membership_ends() -> None:
    member = with_coordinator(Noting())
    member.failing = {"on_join_complete"}
    member.receive(sync(member), SYNCED, 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            member.poll(0)
    assert member.called("on_join_complete") == [(1, "id", "p", b"yours")] * 3
    assert member.state is MemberState.STABLE
    member.tick(HEARTBEAT_MS)
    member.receive(sent_by(member, HeartbeatRequest), HeartbeatReply(error=Error.UNKNOWN_MEMBER_ID), HEARTBEAT_MS)
    member.poll(HEARTBEAT_MS)
    assert len(member.called("on_join_complete")) == 3
    assert member.called("on_join_prepare")[-1] == (-1, "")
    sent_by(member, JoinGroupRequest)


def test_to_make_a_group_active_is_done_when_nothing_is_pending() -> None:
    member = with_coordinator(Noting())
    assert not member.ensure_active_group(0)
    joining = sent_by(member, JoinGroupRequest)
    assert [member.ensure_active_group(ms) for ms in (0, 50_000)] == [False, False]
    assert member.take_requests() == []
    member.receive(joining, FOLLOWED, 50_000)
    member.poll(50_000)
    syncing = sent_by(member, SyncGroupRequest)
    assert not member.ensure_active_group(50_000)
    member.receive(syncing, SYNCED, 50_000)
    assert member.called("on_join_complete") == []
    assert member.ensure_active_group(50_000)
    assert member.called("on_join_complete") == [(1, "id", "p", b"yours")]


# ---------------------------------------------------------------------------------------------------- after an answer


def refusal(api: str, error: Error | None) -> MemberReply | None:
    if error is None:
        return None
    replies: dict[str, MemberReply] = {
        "JoinGroup": JoinGroupReply(error=error, member_id="id"),
        "SyncGroup": SyncGroupReply(error=error),
        "Heartbeat": HeartbeatReply(error=error),
    }
    return replies[api]


def waiting_for(api: str) -> tuple[Noting, int]:
    """A member that has been in generation 1, and the number of its request of this API that waits for a reply."""
    member = stable(with_coordinator(Noting()))
    if api == "Heartbeat":
        member.tick(HEARTBEAT_MS)
        return member, sent_by(member, HeartbeatRequest)
    member.request_rejoin("tried")
    second = JoinGroupReply(generation_id=2, protocol_name="p", leader="x", member_id="id")
    number = join(member, HEARTBEAT_MS) if api == "JoinGroup" else sync(member, second, HEARTBEAT_MS)
    return member, number


@pytest.mark.parametrize(
    ("api", "error", "again"),
    [
        pytest.param(api, error, again, id=f"{api} {'disconnect' if error is None else error.name}")
        for api, error, again in (
            ("JoinGroup", Error.UNKNOWN_MEMBER_ID, (-1, "")),
            ("JoinGroup", Error.MEMBER_ID_REQUIRED, None),
            ("JoinGroup", Error.REBALANCE_IN_PROGRESS, None),
            ("JoinGroup", Error.NOT_COORDINATOR, None),
            ("JoinGroup", None, None),
            ("SyncGroup", Error.UNKNOWN_MEMBER_ID, (-1, "")),
            ("SyncGroup", Error.ILLEGAL_GENERATION, (-1, "id")),
            ("SyncGroup", Error.REBALANCE_IN_PROGRESS, None),
            ("SyncGroup", Error.NOT_COORDINATOR, None),
            ("SyncGroup", None, None),
            ("Heartbeat", Error.UNKNOWN_MEMBER_ID, (-1, "")),
            ("Heartbeat", Error.ILLEGAL_GENERATION, (-1, "id")),
            ("Heartbeat", Error.REBALANCE_IN_PROGRESS, (1, "id")),
        )
    ],
)
def test_a_member_prepares_again_after_a_reset_and_for_a_new_rebalance_alone(
    api: str, error: Error | None, again: tuple[int, str] | None
) -> None:
    member, number = waiting_for(api)
    member.calls.clear()
    member.receive(number, refusal(api, error), HEARTBEAT_MS)
    join(member, HEARTBEAT_MS)
    assert member.called("on_join_prepare") == ([] if again is None else [again])


def test_after_a_refusal_that_is_raised_the_next_poll_joins_at_once__under_the_same_id() -> None:
    member, number = waiting_for("JoinGroup")
    member.receive(number, JoinGroupReply(error=Error.GROUP_MAX_SIZE_REACHED), HEARTBEAT_MS)
    with pytest.raises(GroupError, match="JoinGroup failed with GROUP_MAX_SIZE_REACHED"):
        member.poll(HEARTBEAT_MS)
    member.poll(HEARTBEAT_MS)
    [(_, request)] = member.take_requests()
    assert isinstance(request, JoinGroupRequest)
    assert request.member_id == "id"


def leave(member: Noting) -> None:
    member.maybe_leave_group("tried", 60_000)


def miss_the_poll(member: Noting) -> None:
    member.tick(5_000)
    member.receive(sent_by(member, HeartbeatRequest), HeartbeatReply(), 59_999)
    member.tick(60_000)


@pytest.mark.parametrize(
    ("leaves", "called"),
    [
        pytest.param(leave, [("on_leave_prepare",)], id="the application leaves"),
        pytest.param(miss_the_poll, [("on_poll_timeout",)], id="the poll interval ends"),
    ],
)
def test_a_member_that_left_prepares_as_a_new_one(
    leaves: Callable[[Noting], None], called: list[tuple[object, ...]]
) -> None:
    member = stable(with_coordinator(Noting()))
    member.calls.clear()
    leaves(member)
    sent_by(member, LeaveGroupRequest)
    assert member.calls == called
    assert (member.generation(), member.state) == (NO_MEMBERSHIP, MemberState.UNJOINED)
    join(member, 60_000)
    assert member.called("on_join_prepare") == [(-1, "")]


@pytest.mark.parametrize(
    "present",
    [
        pytest.param(Generation(2, "id", "p"), id="generation"),
        pytest.param(Generation(1, "other", "p"), id="member id"),
        pytest.param(Generation(1, "id", "q"), id="protocol"),
    ],
)
def test_an_error_of_a_generation_that_differs_in_one_field_is_ignored(present: Generation) -> None:
    member = stable(with_coordinator(Noting()))
    beats = []
    for ms in (HEARTBEAT_MS, 2 * HEARTBEAT_MS):
        member.tick(ms)
        beats.append(sent_by(member, HeartbeatRequest))
    refused, now_ms = HeartbeatReply(error=Error.UNKNOWN_MEMBER_ID), 2 * HEARTBEAT_MS
    member.receive(beats[1], refused, now_ms)
    assert member.generation() == NO_MEMBERSHIP
    generation_id, member_id, protocol = present
    stable(
        member,
        JoinGroupReply(generation_id=generation_id, protocol_name=protocol, leader="x", member_id=member_id),
        now_ms,
    )
    member.receive(beats[0], refused, now_ms)
    assert member.generation_if_stable() == present


# ---------------------------------------------------------------------------------------------------- other than calls


def test_the_time_to_the_next_heartbeat_counts_down_while_heartbeats_are_sent() -> None:
    member = with_coordinator(Noting())
    assert member.time_to_next_heartbeat(0) is None
    number = sync(member)
    assert member.time_to_next_heartbeat(0) == HEARTBEAT_MS
    member.receive(number, SYNCED, 0)
    assert [member.time_to_next_heartbeat(ms) for ms in (1_000, HEARTBEAT_MS + 1)] == [HEARTBEAT_MS - 1_000, 0]


def test_a_poll_proves_the_application_alive__though_the_coordinator_is_unknown() -> None:
    member = stable(with_coordinator(Noting()))
    member.coordinator_disconnected(50_000)
    member.poll_heartbeat(50_000)
    member.tick(50_200)
    member.receive(sent_by(member, FindCoordinatorRequest), FOUND, 50_200)
    member.tick(60_000)
    assert member.called("on_poll_timeout") == []
    sent_by(member, HeartbeatRequest)


def test_a_join_group_carries_the_reason_of_the_rejoin__and_the_one_after_does_not() -> None:
    member = stable(with_coordinator(Noting()))
    reasons = []
    for generation, reason in ((2, "first"), (3, None)):
        if reason is not None:
            member.request_rejoin(reason)
        else:
            member.maybe_leave_group("tried", 0)
            member.take_requests()
        member.poll(0)
        [(number, request)] = member.take_requests()
        assert isinstance(request, JoinGroupRequest)
        reasons.append(request.reason)
        member.receive(
            number, JoinGroupReply(generation_id=generation, protocol_name="p", leader="x", member_id="id"), 0
        )
        member.poll(0)
        member.receive(sent_by(member, SyncGroupRequest), SYNCED, 0)
        member.poll(0)
    assert reasons == ["first", None]


def test_a_request_to_rejoin_changes_nothing_else() -> None:
    member = stable(with_coordinator(Noting()))
    before = (member.generation(), member.state)
    assert not member.rejoin_needed_or_pending()
    member.request_rejoin("tried")
    assert (member.generation(), member.state) == before
    assert member.rejoin_needed_or_pending()
    assert member.take_requests() == []
