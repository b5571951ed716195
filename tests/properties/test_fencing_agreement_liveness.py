"""Fencing, agreement and progress: who is refused, what all learn, and how a run must end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    GenerationStarted,
    HeartbeatReplied,
    IncarnationStarted,
    MemberCrashed,
    MemberJoined,
    MemberRemoved,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws.coordinator import StaleGenerationIsRefused
from rebalance_check.properties.laws.generation import OneLeader, OneProtocol
from rebalance_check.properties.laws.leaders import AssignmentIsDisjoint
from rebalance_check.properties.laws.members import LostIsNotCommitted
from rebalance_check.properties.laws.progress import RebalanceCompletes
from rebalance_check.properties.verdict import Outcome, Violated

History = Callable[..., list[Event]]


def outcome(invariant: Invariant, events: list[Event]) -> Outcome:
    return judge(events, [invariant]).outcome


def started(generation: int, incarnation: int = 1) -> GenerationStarted:
    return GenerationStarted(incarnation=incarnation, generation=generation, members=("a",), leader="a")


def sent(generation: int, api: str = "OffsetCommit") -> RequestSent:
    return RequestSent(member="m0", api=api, request=7, generation=generation)


def answered(error: str | None, api: str = "OffsetCommit") -> RequestAnswered:
    return RequestAnswered(member="m0", api=api, request=7, error=error)


def test_stale_generation_is_refused__accepted_after_the_next_started__is_violated(history: History) -> None:
    for api in ("OffsetCommit", "Heartbeat", "SyncGroup"):
        events = history(started(2), sent(1, api), answered("NONE", api))
        assert outcome(StaleGenerationIsRefused, events) is Outcome.VIOLATED


def test_stale_generation_is_refused__refused_or_never_answered__holds(history: History) -> None:
    for error in ("ILLEGAL_GENERATION", None):
        assert outcome(StaleGenerationIsRefused, history(started(2), sent(1), answered(error))) is Outcome.HELD


def test_stale_generation_is_refused__it_was_current_when_sent__is_not_violated(history: History) -> None:
    assert (
        outcome(StaleGenerationIsRefused, history(started(1), sent(1), started(2), answered("NONE")))
        is not Outcome.VIOLATED
    )


def test_stale_generation_is_refused__a_failover_went_back__is_not_violated(history: History) -> None:
    load = IncarnationStarted(incarnation=2, generation=1)
    assert (
        outcome(StaleGenerationIsRefused, history(started(2), sent(1), load, answered("NONE"))) is not Outcome.VIOLATED
    )
    assert (
        outcome(StaleGenerationIsRefused, history(started(2), load, sent(1), answered("NONE"))) is not Outcome.VIOLATED
    )


@pytest.mark.parametrize(("incarnation", "expected"), [(-1, Outcome.UNDECIDED), (1, Outcome.VIOLATED)])
def test_stale_generation_is_refused__a_node_still_loads_that_was_paused_meanwhile__is_not_violated(
    history: History, incarnation: int, expected: Outcome
) -> None:
    blind = HeartbeatReplied(
        incarnation=incarnation, generation=-1, member_id="a", request=7, request_generation=1, error="NONE"
    )
    events = history(started(2), sent(1, "Heartbeat"), blind, answered("NONE", "Heartbeat"))
    assert outcome(StaleGenerationIsRefused, events) is expected


def test_stale_generation_is_refused__a_new_process_reuses_the_request_number__is_not_violated(
    history: History,
) -> None:
    events = history(started(2), sent(1), MemberStarted(member="m0"), sent(2), answered("NONE"))
    assert outcome(StaleGenerationIsRefused, events) is not Outcome.VIOLATED


LOST = PartitionsLost(member="m0", generation=-1, partitions=("t-0",))


def committed(generation: int, error: str | None = "NONE") -> OffsetCommitted:
    return OffsetCommitted(member="m0", generation=generation, partition="t-0", offset=5, error=error)


def test_lost_is_not_committed__committed_in_the_generation_after__is_violated(history: History) -> None:
    joined = MemberJoined(member="m0", generation=3)
    assert outcome(LostIsNotCommitted, history(LOST, joined, committed(3))) is Outcome.VIOLATED


def test_lost_is_not_committed__committed_in_a_generation_that_no_join_named__is_violated(history: History) -> None:
    completed = AssignmentCompleted(member="m0", generation=3, owned=("t-1",))
    assert outcome(LostIsNotCommitted, history(LOST, completed, committed(3))) is Outcome.VIOLATED
    others = PartitionsAssigned(member="m0", generation=3, partitions=("t-1",))
    assert outcome(LostIsNotCommitted, history(LOST, others, committed(3))) is Outcome.VIOLATED
    back = AssignmentCompleted(member="m0", generation=3, owned=("t-0",))
    assert outcome(LostIsNotCommitted, history(LOST, back, committed(3))) is Outcome.HELD


def test_lost_is_not_committed__assigned_again_first__holds(history: History) -> None:
    joined = MemberJoined(member="m0", generation=3)
    again = PartitionsAssigned(member="m0", generation=3, partitions=("t-0",))
    assert outcome(LostIsNotCommitted, history(LOST, joined, again, committed(3))) is Outcome.HELD


def test_lost_is_not_committed__a_commit_that_was_on_its_way__says_nothing(history: History) -> None:
    earlier = MemberJoined(member="m0", generation=2)
    assert outcome(LostIsNotCommitted, history(earlier, LOST, committed(2))) is Outcome.UNDECIDED
    joined = MemberJoined(member="m0", generation=3)
    assert outcome(LostIsNotCommitted, history(LOST, joined, committed(2))) is Outcome.UNDECIDED


def test_lost_is_not_committed__refused__says_nothing__and_a_new_process_may(history: History) -> None:
    joined = MemberJoined(member="m0", generation=3)
    assert outcome(LostIsNotCommitted, history(LOST, joined, committed(3, "UNKNOWN_MEMBER_ID"))) is Outcome.UNDECIDED
    crashed = MemberCrashed(member="m0")
    assert outcome(LostIsNotCommitted, history(LOST, crashed, joined, committed(3))) is Outcome.HELD


def joined(member: str, *, leader: bool = False, protocol: str = "", incarnation: int = 1) -> MemberJoined:
    return MemberJoined(
        member=member, member_id=f"{member}-id", generation=1, incarnation=incarnation, leader=leader, protocol=protocol
    )


def test_one_leader__two_members_lead__is_violated(history: History) -> None:
    assert outcome(OneLeader, history(joined("m0", leader=True), joined("m1", leader=True))) is Outcome.VIOLATED


def test_one_leader__repeated_or_in_another_incarnation_or_replaced__holds(history: History) -> None:
    first = joined("m0", leader=True)
    assert outcome(OneLeader, history(first, joined("m1"), first)) is Outcome.HELD
    assert outcome(OneLeader, history(first, joined("m1", leader=True, incarnation=2))) is Outcome.HELD
    replaced = MemberRemoved(incarnation=1, generation=1, member_id="m0-id", reason="replaced")
    assert outcome(OneLeader, history(first, replaced, joined("m1", leader=True))) is Outcome.HELD


def test_one_protocol__two_protocols__is_violated(history: History) -> None:
    one, other = joined("m0", protocol="range"), joined("m1", protocol="roundrobin")
    assert outcome(OneProtocol, history(one, other)) is Outcome.VIOLATED
    assert outcome(OneProtocol, history(one, joined("m1", protocol="range"))) is Outcome.HELD


def computed(*gets: tuple[str, tuple[str, ...]], claims: tuple[tuple[str, tuple[str, ...]], ...] = ()) -> Event:
    return AssignmentComputed(
        member="m0", member_id="a", generation=1, incarnation=1, owned_partitions=claims, assignments=gets
    )


def owns(*partitions: str) -> AssignmentCompleted:
    return AssignmentCompleted(member="m0", member_id="a", generation=1, incarnation=1, owned=partitions)


def test_assignment_is_disjoint__one_partition_to_two_members__is_violated(history: History) -> None:
    assert outcome(AssignmentIsDisjoint, history(computed(("a", ("t-0",)), ("b", ("t-0",))))) is Outcome.VIOLATED
    assert outcome(AssignmentIsDisjoint, history(computed(("a", ("t-0",)), ("b", ("t-1",))))) is Outcome.HELD


def test_rebalance_completes__nothing_pending__holds(history: History) -> None:
    assert judge(history(started(1)), [RebalanceCompletes]).exit_code == 0


def test_rebalance_completes__something_pending__is_violated(history: History) -> None:
    judgement = judge(history(started(1), pending=("m0 waits for SyncGroup", "t-0 has no owner")), [RebalanceCompletes])
    assert judgement.exit_code == 11
    verdict = judgement.verdict("rebalance_completes")
    assert isinstance(verdict, Violated)
    assert verdict.counterexample.headline == "m0 waits for SyncGroup and 1 more"


def test_rebalance_completes__the_history_is_cut_off__is_undecided(history: History) -> None:
    assert judge(history(started(1), ended=False), [RebalanceCompletes]).exit_code == 12


@pytest.mark.parametrize("name", ["one_leader", "one_protocol", "assigned_once_per_generation"])
def test_clients_of_an_unknown_incarnation__after_a_failover__are_not_compared(history: History, name: str) -> None:
    """A failover may hand out a generation number again."""
    failover = [IncarnationStarted(incarnation=1, generation=0), IncarnationStarted(incarnation=2, generation=0)]
    one = [
        MemberJoined(member="m0", member_id="a", generation=1, leader=True, protocol="range"),
        AssignmentCompleted(member="m0", member_id="a", generation=1, owned=("t-0",)),
    ]
    other = [
        MemberJoined(member="m1", member_id="b", generation=1, leader=True, protocol="sticky"),
        AssignmentCompleted(member="m1", member_id="b", generation=1, owned=("t-0",)),
    ]
    assert judge(history(*one, *other), [name]).outcome is Outcome.VIOLATED
    assert judge(history(*failover, *one, *other), [name]).outcome is not Outcome.VIOLATED
