"""No double ownership: which histories hold it and which break it, and the windows in which zombies are legal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    ConnectorStarted,
    Event,
    GenerationStarted,
    IncarnationStarted,
    LogTailLost,
    MemberCrashed,
    MemberJoined,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    TaskStarted,
    TaskStopped,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.ownership import (
    AssignedOncePerGeneration,
    NoDoubleOwnership,
)
from rebalance_check.properties.verdict import Held, Outcome, Violated

History = Callable[..., list[Event]]


def outcome(events: list[Event]) -> Outcome:
    return judge(events, [NoDoubleOwnership]).outcome


def assigned(member: str, generation: int, *partitions: str, **more: object) -> PartitionsAssigned:
    return PartitionsAssigned(member=member, generation=generation, partitions=partitions, **more)  # type: ignore[arg-type] # test sugar


def test_no_double_ownership__one_partition_assigned_to_two_members__is_violated(history: History) -> None:
    judgement = judge(history(assigned("m0", 1, "t-0"), assigned("m1", 1, "t-0")), [NoDoubleOwnership])
    verdict = judgement.verdict("no_double_ownership")
    assert isinstance(verdict, Violated)
    assert verdict.counterexample.headline == "t-0 is owned by m0 and m1 in generation 1"
    assert [event.source for event in verdict.counterexample.events] == ["m0", "m1"]
    with pytest.raises(NoDoubleOwnership.violation, match="t-0 is owned by m0 and m1 in generation 1"):
        judgement.check()


def test_no_double_ownership__disjoint_assignments__holds(history: History) -> None:
    judgement = judge(history(assigned("m0", 1, "t-0"), assigned("m1", 1, "t-1")), [NoDoubleOwnership])
    assert judgement.verdict("no_double_ownership") == Held(checked_events=2)
    judgement.check()


def test_no_double_ownership__joining_while_still_holding__is_violated(history: History) -> None:
    kept = [
        assigned("m0", 1, "t-0"),
        MemberJoined(member="m1", generation=2),
        assigned("m1", 2, "t-0"),
        MemberJoined(member="m0", generation=2),
    ]
    assert outcome(history(*kept)) is Outcome.VIOLATED
    given_up = [kept[0], PartitionsRevoked(member="m0", generation=1, partitions=("t-0",)), *kept[1:]]
    assert outcome(history(*given_up)) is Outcome.HELD


def test_no_double_ownership__a_zombie_of_an_older_generation__holds(history: History) -> None:
    assert outcome(history(assigned("m0", 1, "t-0"), assigned("m1", 2, "t-0"))) is Outcome.HELD


def test_no_double_ownership__membership_lost_but_partitions_not_yet__holds(history: History) -> None:
    zombie = [
        assigned("m0", 1, "t-0"),
        MembershipLost(member="m0", generation=1, reason="UNKNOWN_MEMBER_ID"),
        assigned("m1", 1, "t-0"),
    ]
    assert outcome(history(*zombie)) is Outcome.HELD
    assert outcome(history(*zombie, MemberJoined(member="m0", generation=1))) is Outcome.VIOLATED


def test_no_double_ownership__the_coordinator_removed_one_of_them__holds(history: History) -> None:
    events = [
        assigned("m0", 1, "t-0", member_id="a", incarnation=1),
        assigned("m1", 1, "t-0", member_id="b", incarnation=1),
    ]
    removed = MemberRemoved(incarnation=1, generation=1, member_id="a", reason="session expired")
    assert outcome(history(removed, *events)) is Outcome.HELD
    assert outcome(history(*events, removed)) is Outcome.VIOLATED


def test_no_double_ownership__one_generation_number_in_two_incarnations__holds(history: History) -> None:
    by_client = [assigned("m0", 3, "t-0", incarnation=1), assigned("m1", 3, "t-0", incarnation=2)]
    assert outcome(history(*by_client)) is Outcome.HELD
    by_coordinator = [
        GenerationStarted(incarnation=1, generation=3, members=("a",), leader="a"),
        assigned("m0", 3, "t-0", member_id="a"),
        GenerationStarted(incarnation=2, generation=3, members=("b",), leader="b"),
        assigned("m1", 3, "t-0", member_id="b"),
    ]
    assert outcome(history(*by_coordinator)) is Outcome.HELD


@pytest.mark.parametrize(
    "ending",
    [
        MemberCrashed(member="m0"),
        PartitionsLost(member="m0", generation=-1, partitions=("t-0",)),
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",)),
        AssignmentCompleted(member="m0", generation=1, owned=()),
    ],
    ids=lambda event: type(event).__name__,
)
def test_no_double_ownership__the_first_owner_gave_it_up__holds(history: History, ending: Event) -> None:
    assert outcome(history(assigned("m0", 1, "t-0"), ending, assigned("m1", 1, "t-0"))) is Outcome.HELD


def test_no_double_ownership__completed_with_what_another_holds__is_violated(history: History) -> None:
    completed = AssignmentCompleted(member="m1", generation=1, owned=("t-0", "t-1"))
    assert outcome(history(assigned("m0", 1, "t-0"), completed)) is Outcome.VIOLATED


def test_no_double_ownership__tasks_and_connectors__is_violated(history: History) -> None:
    task = [TaskStarted(member="w0", generation=1, task="c-0"), TaskStarted(member="w1", generation=1, task="c-0")]
    assert outcome(history(*task)) is Outcome.VIOLATED
    stopped = TaskStopped(member="w0", generation=1, task="c-0")
    assert outcome(history(task[0], stopped, task[1])) is Outcome.HELD
    connector = [ConnectorStarted(member=w, generation=1, connector="c") for w in ("w0", "w1")]
    assert outcome(history(*connector)) is Outcome.VIOLATED


def test_no_double_ownership__a_task_and_a_partition_of_one_name__holds(history: History) -> None:
    assert (
        outcome(history(assigned("m0", 1, "c-0"), TaskStarted(member="m1", generation=1, task="c-0"))) is Outcome.HELD
    )


def test_no_double_ownership__two_groups_own_the_same_partition__holds(history: History) -> None:
    one = history(assigned("m0", 1, "t-0"), group="one", ended=False)
    two = history(assigned("m0", 1, "t-0"), group="two")
    assert outcome([*one, *two]) is Outcome.HELD


def test_no_double_ownership__several_violations__counts_all_and_shows_the_first(history: History) -> None:
    events = history(assigned("m0", 1, "t-0", "t-1"), assigned("m1", 1, "t-0", "t-1"))
    verdict = judge(events, [NoDoubleOwnership]).verdict("no_double_ownership")
    assert isinstance(verdict, Violated)
    assert verdict.count == 2
    assert verdict.counterexample.headline.startswith("t-0 ")


@pytest.mark.parametrize(
    "entering",
    [
        AssignmentCompleted(member="m0", generation=2, owned=("t-0",)),
        assigned("m0", 2, "t-1"),
        assigned("m0", 2),
    ],
    ids=["completed with what it held", "assigned more", "assigned nothing"],
)
def test_no_double_ownership__kept_into_a_generation_that_no_join_named__is_violated(
    history: History, entering: Event
) -> None:
    assert outcome(history(assigned("m0", 1, "t-0"), assigned("m1", 2, "t-0"), entering)) is Outcome.VIOLATED


def test_no_double_ownership__replaced_when_the_generation_completes__holds(history: History) -> None:
    completed = AssignmentCompleted(member="m0", generation=2, owned=("t-1",))
    assert outcome(history(assigned("m0", 1, "t-0"), assigned("m1", 2, "t-0"), completed)) is Outcome.HELD


def test_no_double_ownership__a_returned_worker_keeps_a_task_beyond_its_assignment__is_violated(
    history: History,
) -> None:
    returned = [
        TaskStarted(member="w0", generation=1, task="c-0"),
        MembershipLost(member="w0", generation=1, reason="UNKNOWN_MEMBER_ID"),
        TaskStarted(member="w1", generation=3, task="c-0"),
        MemberJoined(member="w0", generation=3),
    ]
    assert outcome(history(*returned)) is Outcome.HELD
    completed = AssignmentCompleted(member="w0", generation=3, owned=())
    assert outcome(history(*returned, completed)) is Outcome.VIOLATED


def completed(member: str, generation: int, *owned: str) -> AssignmentCompleted:
    return AssignmentCompleted(member=member, member_id=f"{member}-id", generation=generation, owned=owned)


def once(events: list[Event]) -> Outcome:
    return judge(events, [AssignedOncePerGeneration]).outcome


def test_assigned_once__given_up_before_the_other_has_it__is_violated(history: History) -> None:
    given_up = PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
    doubled = history(completed("m0", 1, "t-0"), given_up, completed("m1", 1, "t-0"))
    assert once(doubled) is Outcome.VIOLATED
    assert outcome(doubled) is Outcome.HELD  # in this order it had but one owner at a time


def test_assigned_once__in_a_later_generation_or_another_partition__holds(history: History) -> None:
    assert once(history(completed("m0", 1, "t-0"), completed("m1", 2, "t-0"))) is Outcome.HELD
    assert (
        once(history(completed("m0", 1, "t-0"), completed("m1", 1, "t-1"), completed("m0", 1, "t-0"))) is Outcome.HELD
    )


def test_assigned_once__a_process_that_takes_over_the_instance_id_or_a_removed_member__holds(history: History) -> None:
    starts = [MemberStarted(member=member, group_instance_id="i") for member in ("m0", "m1")]
    assert once(history(*starts, completed("m0", 1, "t-0"), completed("m1", 1, "t-0"))) is Outcome.HELD
    begun = GenerationStarted(incarnation=1, generation=1, members=("m0-id", "m1-id"), leader="m0-id")
    removed = MemberRemoved(incarnation=1, generation=1, member_id="m0-id", reason="session expired")
    assert once(history(begun, completed("m0", 1, "t-0"), removed, completed("m1", 1, "t-0"))) is Outcome.HELD


def test_assigned_once__a_coordinator_that_numbers_nothing_and_completes_nothing__is_not_accused(
    history: History,
) -> None:
    given_up = PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
    handed_over = history(assigned("m0", 1, "t-0"), given_up, assigned("m1", 1, "t-0"))
    assert judge(handed_over, [NoDoubleOwnership, AssignedOncePerGeneration]).outcome is Outcome.HELD


def joined(member: str, generation: int) -> MemberJoined:
    return MemberJoined(member=member, member_id=member, generation=generation)


@pytest.mark.parametrize(("lost", "expected"), [(True, Outcome.HELD), (False, Outcome.VIOLATED)])
def test_a_log_that_lost_its_tail__may_restore_a_zombie(history: History, lost: bool, expected: Outcome) -> None:
    zombie, other = assigned("m0", 1, "t-0", member_id="m0"), assigned("m1", 4, "t-0", member_id="m1")
    tail = [LogTailLost(records=3)] if lost else []
    held = [assigned("m0", 1, "t-1", member_id="m0"), joined("m0", 1)]
    events = [zombie, *held, joined("m1", 4), other, *tail, joined("m0", 3), joined("m1", 3), assigned("m2", 3, "t-9")]
    assert outcome(history(*events)) is expected


@pytest.mark.parametrize(("of_2", "expected"), [(("m0", "m1"), Outcome.HELD), (("m1",), Outcome.VIOLATED)])
def test_a_late_copy_of_a_join_group__puts_a_member_into_a_generation(
    history: History, of_2: tuple[str, ...], expected: Outcome
) -> None:
    events = [
        IncarnationStarted(incarnation=0, generation=0, status="Empty"),
        GenerationStarted(incarnation=0, generation=1, members=("m0",), leader="m0"),
        assigned("m0", 1, "t-0", member_id="m0"),
        GenerationStarted(incarnation=0, generation=2, members=of_2, leader="m1"),
        assigned("m1", 2, "t-0", member_id="m1"),
        GenerationStarted(incarnation=0, generation=3, members=("m0", "m1"), leader="m1"),
        joined("m0", 3), joined("m1", 3),
    ]  # fmt: skip
    assert outcome(history(*events)) is expected
