"""Revoked before reassigned, the callback contract and the EAGER barrier: how partitions change hands."""

from __future__ import annotations

from collections.abc import Callable

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    MemberCrashed,
    MemberJoined,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws.members import CallbacksAlternate, EagerOwnsNothingWhileJoining
from rebalance_check.properties.laws.ownership import RevokedBeforeReassigned
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
Shares = dict[str, tuple[str, ...]]


def outcome(invariant: Invariant, events: list[Event]) -> Outcome:
    return judge(events, [invariant]).outcome


def computed(claims: Shares, gets: Shares) -> AssignmentComputed:
    return AssignmentComputed(
        member="m0", generation=2, owned_partitions=tuple(claims.items()), assignments=tuple(gets.items())
    )  # fmt: skip


def assigned(member: str, generation: int, *partitions: str, member_id: str = "") -> PartitionsAssigned:
    return PartitionsAssigned(
        member=member, generation=generation, partitions=partitions, member_id=member_id, incarnation=1
    )


def revoked(member: str, generation: int, *partitions: str) -> PartitionsRevoked:
    return PartitionsRevoked(member=member, generation=generation, partitions=partitions)


def test_revoked_before_reassigned__given_on_in_the_same_round__is_violated(history: History) -> None:
    step = computed({"a": ("t-0",), "b": ()}, {"a": (), "b": ("t-0",)})
    assert outcome(RevokedBeforeReassigned, history(step)) is Outcome.VIOLATED


def test_revoked_before_reassigned__withheld__holds(history: History) -> None:
    step = computed({"a": ("t-0", "t-1"), "b": ()}, {"a": ("t-0",), "b": ()})
    assert outcome(RevokedBeforeReassigned, history(step)) is Outcome.HELD


def test_revoked_before_reassigned__a_stale_claim_beaten_by_a_newer_claimant__holds(history: History) -> None:
    step = computed({"a": ("t-0",), "b": ("t-0",)}, {"a": (), "b": ("t-0",)})
    assert outcome(RevokedBeforeReassigned, history(step)) is Outcome.HELD


def test_callbacks_alternate__assigned_revoked_assigned_lost__holds(history: History) -> None:
    events = [
        assigned("m0", 1, "t-0", "t-1"),
        AssignmentCompleted(member="m0", generation=1, owned=("t-1", "t-0")),
        revoked("m0", 1, "t-0"),
        assigned("m0", 2, "t-0"),
        PartitionsLost(member="m0", generation=-1, partitions=("t-0", "t-1")),
    ]
    assert outcome(CallbacksAlternate, history(*events)) is Outcome.HELD


def test_callbacks_alternate__assigned_twice__is_violated(history: History) -> None:
    assert outcome(CallbacksAlternate, history(assigned("m0", 1, "t-0"), assigned("m0", 2, "t-0"))) is Outcome.VIOLATED


def test_callbacks_alternate__assigned_again_after_a_crash__holds(history: History) -> None:
    events = [assigned("m0", 1, "t-0"), MemberCrashed(member="m0"), assigned("m0", 2, "t-0")]
    assert outcome(CallbacksAlternate, history(*events)) is Outcome.HELD


def test_callbacks_alternate__given_up_twice__is_violated(history: History) -> None:
    lost = PartitionsLost(member="m0", generation=-1, partitions=("t-0",))
    assert (
        outcome(CallbacksAlternate, history(assigned("m0", 1, "t-0"), revoked("m0", 1, "t-0"), lost))
        is Outcome.VIOLATED
    )
    assert outcome(CallbacksAlternate, history(revoked("m0", 1, "t-0"))) is Outcome.VIOLATED


def test_callbacks_alternate__owns_what_no_callback_named__is_violated(history: History) -> None:
    more = AssignmentCompleted(member="m0", generation=1, owned=("t-0", "t-1"))
    less = AssignmentCompleted(member="m0", generation=1, owned=())
    assert outcome(CallbacksAlternate, history(assigned("m0", 1, "t-0"), more)) is Outcome.VIOLATED
    assert outcome(CallbacksAlternate, history(assigned("m0", 1, "t-0"), less)) is Outcome.VIOLATED


def test_callbacks_alternate__a_worker_without_callbacks__says_nothing(history: History) -> None:
    completed = AssignmentCompleted(member="w0", generation=1, owned=("c",))
    assert outcome(CallbacksAlternate, history(completed)) is Outcome.UNDECIDED


def test_eager_owns_nothing_while_joining__all_revoked_before__holds(history: History) -> None:
    events = [
        MemberStarted(member="m0", protocol="eager"),
        assigned("m0", 1, "t-0"),
        revoked("m0", 1, "t-0"),
        MemberJoined(member="m0", generation=2),
    ]
    assert outcome(EagerOwnsNothingWhileJoining, history(*events)) is Outcome.HELD
    assert outcome(EagerOwnsNothingWhileJoining, history(*events[:2], events[3])) is Outcome.VIOLATED


def test_eager_owns_nothing_while_joining__a_cooperative_member_keeps_some__says_nothing(
    history: History,
) -> None:
    events = [MemberStarted(member="m0", protocol="cooperative"), assigned("m0", 1, "t-0")]
    whole = history(*events, MemberJoined(member="m0", generation=2))
    assert outcome(EagerOwnsNothingWhileJoining, whole) is Outcome.UNDECIDED
