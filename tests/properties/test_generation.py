"""Generation monotonicity: at the coordinator, along its log, and at each member."""

from __future__ import annotations

from collections.abc import Callable

from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupMetadataAppended,
    GroupStatusChanged,
    IncarnationStarted,
    MemberAdded,
    MemberJoined,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.generation import GenerationMonotonicity
from rebalance_check.properties.verdict import Outcome, Violated

History = Callable[..., list[Event]]


def outcome(events: list[Event]) -> Outcome:
    return judge(events, [GenerationMonotonicity]).outcome


def started(generation: int, incarnation: int = 1) -> GenerationStarted:
    return GenerationStarted(incarnation=incarnation, generation=generation, members=("a",), leader="a")


def incarnation_started(incarnation: int, generation: int = 0) -> IncarnationStarted:
    return IncarnationStarted(incarnation=incarnation, generation=generation)


def appended(generation: int, offset: int, incarnation: int = 1) -> GroupMetadataAppended:
    return GroupMetadataAppended(incarnation=incarnation, generation=generation, members=("a",), offset=offset)


def joined(generation: int, member_id: str = "a", incarnation: int = -1) -> MemberJoined:
    return MemberJoined(member="m0", member_id=member_id, generation=generation, incarnation=incarnation)


def test_generation_monotonicity__one_by_one_and_empty_in_between__holds(history: History) -> None:
    emptied = GroupStatusChanged(incarnation=1, generation=3, from_status="PreparingRebalance", to_status="Empty")
    joins = MemberAdded(incarnation=1, generation=3, member_id="b")
    assert outcome(history(incarnation_started(1), started(1), started(2), emptied, joins, started(4))) is Outcome.HELD


def test_generation_monotonicity__a_generation_started_twice__is_violated(history: History) -> None:
    verdict = judge(history(started(2), started(2)), [GenerationMonotonicity]).verdict("generation_monotonicity")
    assert isinstance(verdict, Violated)
    assert verdict.counterexample.headline == "generation 2 started twice in incarnation 1"


def test_generation_monotonicity__back_to_1_after_empty__is_violated(history: History) -> None:
    emptied = GroupStatusChanged(incarnation=1, generation=3, from_status="PreparingRebalance", to_status="Empty")
    assert outcome(history(incarnation_started(1), started(1), started(2), emptied, started(1))) is Outcome.VIOLATED


def test_generation_monotonicity__two_join_phases_in_one_generation__is_violated(history: History) -> None:
    def phase(generation: int, incarnation: int = 1) -> list[Event]:
        steps = [("Stable", "PreparingRebalance"), ("PreparingRebalance", "CompletingRebalance")]
        return [
            GroupStatusChanged(incarnation=incarnation, generation=generation, from_status=before, to_status=after)
            for before, after in steps
        ]

    assert outcome(history(*phase(1), *phase(1))) is Outcome.VIOLATED
    assert outcome(history(*phase(1), *phase(2))) is Outcome.HELD
    assert outcome(history(*phase(1), *phase(1, 2))) is Outcome.HELD


def test_generation_monotonicity__a_number_left_out__is_violated(history: History) -> None:
    assert outcome(history(incarnation_started(1), started(1), started(3))) is Outcome.VIOLATED


def test_generation_monotonicity__reused_after_a_failover_that_lost_it__holds(history: History) -> None:
    assert (
        outcome(
            history(
                incarnation_started(1), started(1), appended(1, 0), started(2), incarnation_started(2, 1), started(2, 2)
            )
        )
        is Outcome.HELD
    )


def test_generation_monotonicity__created_again_after_deletion__holds(history: History) -> None:
    events = [
        incarnation_started(1),
        started(1),
        appended(1, 0),
        incarnation_started(2, 0),
        started(1, 2),
        appended(1, 5, 2),
    ]
    assert outcome(history(*events)) is Outcome.HELD


def test_generation_monotonicity__a_late_record_of_an_older_generation__holds(history: History) -> None:
    assert (
        outcome(history(incarnation_started(1), started(1), started(2), appended(1, 0), appended(2, 1))) is Outcome.HELD
    )


def test_generation_monotonicity__the_log_goes_down__is_violated(history: History) -> None:
    assert outcome(history(started(1), started(2), appended(2, 0), appended(1, 1))) is Outcome.VIOLATED
    assert outcome(history(started(1), started(2), appended(1, 1), appended(2, 1))) is Outcome.VIOLATED


def test_generation_monotonicity__an_incarnation_started_twice__is_violated(history: History) -> None:
    assert outcome(history(incarnation_started(1), incarnation_started(1))) is Outcome.VIOLATED
    assert outcome(history(incarnation_started(2), incarnation_started(1))) is Outcome.VIOLATED


def test_generation_monotonicity__a_member_goes_down_under_one_id__is_violated(history: History) -> None:
    assert outcome(history(joined(4), joined(3))) is Outcome.VIOLATED
    assert outcome(history(joined(4), joined(4), joined(5))) is Outcome.HELD


def test_generation_monotonicity__a_member_starts_over_under_a_new_id__is_not_violated(history: History) -> None:
    assert outcome(history(joined(4), joined(1, "b"))) is not Outcome.VIOLATED


def test_generation_monotonicity__a_member_goes_down_and_a_failover_may_explain_it__is_not_violated(
    history: History,
) -> None:
    assert (
        outcome(history(incarnation_started(1), joined(6), incarnation_started(2), joined(5))) is not Outcome.VIOLATED
    )
    assert (
        outcome(
            history(incarnation_started(1), joined(6, incarnation=1), incarnation_started(2), joined(5, incarnation=2))
        )
        is not Outcome.VIOLATED
    )


def test_generation_monotonicity__a_member_goes_down_into_a_later_incarnation_of_the_coordinator__is_not_violated(
    history: History,
) -> None:
    first, second = [incarnation_started(1, 5), started(6), joined(6)], [incarnation_started(2, 4), started(5, 2)]
    assert outcome(history(*first, *second, joined(5))) is not Outcome.VIOLATED
    assert outcome(history(*first, incarnation_started(2, 4), joined(5))) is not Outcome.VIOLATED


def test_generation_monotonicity__a_member_goes_back_to_an_earlier_incarnation__is_not_violated(
    history: History,
) -> None:
    later = [incarnation_started(2, 5), started(6, 2), joined(6)]
    assert outcome(history(incarnation_started(1, 4), started(5), *later, joined(5))) is not Outcome.VIOLATED
