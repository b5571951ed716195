"""The contract of a coordinator (KIP-795), on random replies of a group: callbacks, generations, ids, the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

import pytest

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.generation import Generation, MemberState
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    HeartbeatReply,
    HeartbeatRequest,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    MemberRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import Error
from tests.impl.found_coordinator import found_in, with_coordinator

SEEDS = range(60)
STEPS = 150
CONFIG = ClientConfig(group_id="g", client_id="c", session_timeout_ms=10_000, rebalance_timeout_ms=60_000)
RETRIED = {
    JoinGroupRequest: (Error.UNKNOWN_MEMBER_ID, Error.NOT_COORDINATOR, Error.COORDINATOR_LOAD_IN_PROGRESS),
    SyncGroupRequest: (Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.REBALANCE_IN_PROGRESS),
    HeartbeatRequest: (Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.REBALANCE_IN_PROGRESS),
}


class Call(NamedTuple):
    """A callback, what it was called with, and what the member was then."""

    name: str
    args: tuple[object, ...]
    generation: Generation
    state: MemberState


class Noting(Coordinator):
    """A member that notes its callbacks; one in ten is not finished, or fails."""

    def __init__(self, recorder: Recorder, random: Random) -> None:
        super().__init__(CONFIG, recorder, member="m0")
        self.calls: list[Call] = []
        self.named_leader: set[int] = set()
        self.unfinished = False
        self._random = random

    def _note(self, name: str, *args: object) -> None:
        self.calls.append(Call(name, args, self.generation(), self.state))

    def protocol_type(self) -> str:
        return "plain"

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        return [("p", b"me")]

    def on_join_prepare(self, generation_id: int, member_id: str) -> bool:
        self._note("prepare", generation_id, member_id)
        self.unfinished = self._random.random() < 0.1
        return not self.unfinished

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[JoinedMember]) -> Mapping[str, bytes]:
        self._note("assign", leader_id, protocol)
        if self._random.random() < 0.1:
            raise ZeroDivisionError("assign")
        return {member.member_id: b"yours" for member in members}

    def on_join_complete(self, generation_id: int, member_id: str, protocol: str, assignment: bytes) -> None:
        self._note("complete", generation_id, member_id, protocol, assignment)
        if self._random.random() < 0.1:
            raise ZeroDivisionError("complete")

    def on_leave_prepare(self) -> None:
        self._note("leave")


class Walk:
    """A member and a group that answers at random; ``stable`` and ``ids`` are what the member said after each step."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now_ms, self.generation, self.ids_given = 0, 0, 0
        self.member = with_coordinator(Noting(Recorder("g", "m0", lambda: self.now_ms, None), self.random))
        self.sent: list[tuple[int, MemberRequest]] = []
        self.joined_unprepared = 0
        self.surfaced: set[str] = set()
        self.seen: list[tuple[Generation, MemberState, Generation | None]] = []
        for _ in range(STEPS):
            self._step()
            self.seen.append((self.member.generation(), self.member.state, self.member.generation_if_stable()))

    def _step(self) -> None:
        self.now_ms += self.random.choice((0, 100, 3_000))
        choice = self.random.random()
        if self.sent and choice < 0.4:
            self._answer(*self.sent.pop(0))
        elif choice < 0.45:
            self.member.request_rejoin("test")
        elif choice < 0.6:
            self.member.tick(self.now_ms)
        else:
            self._poll()
        self._take()

    def _take(self) -> None:
        new = self.member.take_requests()
        self.joined_unprepared += self.member.unfinished and any(isinstance(each, JoinGroupRequest) for _, each in new)
        self.sent += new

    def _poll(self) -> None:
        try:
            self.member.poll(self.now_ms)
        except ZeroDivisionError as failure:
            self.surfaced.add(str(failure))
            return
        finally:
            self._take()
        found_in(self.sent, self.member, self.now_ms)

    def _answer(self, number: int, request: MemberRequest) -> None:
        errors = RETRIED.get(type(request), ())
        failure = self.random.choice(errors) if errors and self.random.random() < 0.25 else None
        reply: GroupReply | None = None
        match request:
            case JoinGroupRequest():
                reply = JoinGroupReply(error=failure) if failure else self._joined(request)
            case SyncGroupRequest():
                reply = SyncGroupReply(error=failure) if failure else SyncGroupReply(assignment=b"yours")
            case HeartbeatRequest():
                reply = HeartbeatReply(error=failure) if failure else HeartbeatReply()
        self.member.receive(number, reply, self.now_ms)

    def _joined(self, request: JoinGroupRequest) -> JoinGroupReply:
        self.generation += 1
        if not request.member_id:
            self.ids_given += 1
        own = request.member_id or f"id{self.ids_given}"
        leads = self.random.random() < 0.5
        if leads:
            self.member.named_leader.add(self.generation)
        members = (JoinedMember(own, b"me"), JoinedMember("x", b"x")) if leads else ()
        return JoinGroupReply(
            generation_id=self.generation, protocol_name="p", leader=own if leads else "x", member_id=own,
            members=members,
        )  # fmt: skip

    def called(self, name: str) -> list[Call]:
        """The callbacks of one name."""
        return [call for call in self.member.calls if call.name == name]


@pytest.fixture(scope="module")
def walks() -> list[Walk]:
    return [Walk(seed) for seed in SEEDS]


def test_complete_comes_in_a_stable_generation__which_grows__or_with_the_same_arguments_again(
    walks: list[Walk],
) -> None:
    again = 0
    for walk in walks:
        before: Call | None = None
        for call in walk.called("complete"):
            assert (call.args[:3], call.state) == (tuple(call.generation), MemberState.STABLE)
            again += before is not None and call.args == before.args
            assert before is None or call.args == before.args or call.generation > before.generation
            before = call
    assert again > 0


def test_between_two_generations_the_member_prepares__and_then_nothing_but_assign_comes_before_complete(
    walks: list[Walk],
) -> None:
    completed = 0
    for walk in walks:
        since: list[str] = []
        last: tuple[object, ...] | None = None
        for call in walk.member.calls:
            if call.name == "complete":
                assert call.args == last or "prepare" in since
                assert set(since) <= {"prepare", "assign"}
                since, last = [], call.args
                completed += 1
            else:
                since.append(call.name)
    assert completed > 300


def test_assign_comes_once_for_each_generation__at_the_member_that_the_broker_named_leader(walks: list[Walk]) -> None:
    for walk in walks:
        generations = [call.generation.generation_id for call in walk.called("assign")]
        assert len(generations) == len(set(generations))
        assert set(generations) <= walk.member.named_leader
    assert sum(len(walk.called("assign")) for walk in walks) > 100


def test_prepare_is_called_with_the_generation_before_the_join__or_with_none_after_a_reset(walks: list[Walk]) -> None:
    kinds = set()
    for walk in walks:
        for call in walk.called("prepare"):
            assert call.args == call.generation[:2]
            kinds.add((call.args[0] == -1, call.args[1] == ""))
    assert kinds == {(True, True), (True, False), (False, False)}


def test_generation_if_stable_is_the_generation_in_stable__and_nothing_elsewhere(walks: list[Walk]) -> None:
    states = set()
    for generation, state, stable in (seen for walk in walks for seen in walk.seen):
        assert stable == (generation if state is MemberState.STABLE else None)
        states.add(state)
    assert states == set(MemberState)


def test_a_member_id_does_not_change_inside_a_generation(walks: list[Walk]) -> None:
    for walk in walks:
        pairs = {(each.generation_id, each.member_id) for each, _state, _stable in walk.seen if not each.reset}
        assert len({generation for generation, _ in pairs}) == len(pairs)


def test_failures_of_callbacks_surface_from_poll(walks: list[Walk]) -> None:
    assert set().union(*(walk.surfaced for walk in walks)) == {"assign", "complete"}


def test_no_join_group_is_sent_before_a_member_is_prepared(walks: list[Walk]) -> None:
    assert all(walk.joined_unprepared == 0 for walk in walks)


def test_no_callback_comes_after_the_end(walks: list[Walk]) -> None:
    for walk in walks:
        walk.member.close(walk.now_ms)
        calls = len(walk.member.calls)
        walk.sent += walk.member.take_requests()
        for number, request in walk.sent:
            walk._answer(number, request)
        walk.member.tick(walk.now_ms + 100_000)
        walk.member.close(walk.now_ms)
        assert len(walk.member.calls) == calls
