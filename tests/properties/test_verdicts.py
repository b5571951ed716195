"""An invariant without a case is untested, an open one raises, and one that was not asked for does not count."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    IncarnationStarted,
    MemberJoined,
    MemberLeft,
    MemberStarted,
    PartitionsAssigned,
    RunEnded,
    RunStarted,
    StatusAppended,
)
from rebalance_check.properties.catalogue import CATALOGUE, choose, select
from rebalance_check.properties.completeness import concerned_by
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of_claims
from rebalance_check.properties.history import write_history
from rebalance_check.properties.judge import EMPTY, judge
from rebalance_check.properties.kinds import Fold, Invariant, Kind
from rebalance_check.properties.laws.ownership import NoDoubleOwnership
from rebalance_check.properties.panel import NOTHING_BETWEEN
from rebalance_check.properties.verdict import (
    Held,
    Outcome,
    Undecided,
    UndecidedError,
    Untested,
    Violation,
    overall_outcome,
    worst,
)

History = Callable[..., list[Event]]
GOOD = PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
BAD = PartitionsAssigned(member="m1", generation=1, partitions=("t-0",))
BEGUN = RunStarted(subject="mine")


def test_a_run_in_which_nothing_happened__is_undecided__and_nothing_in_it_held(history: History) -> None:
    judgement = judge(history(RunStarted(subject="mine")))
    assert judgement.held == ()
    assert (judgement.outcome, judgement.exit_code) == (Outcome.UNDECIDED, 12)
    assert set(judgement.untested.values()) == {NOTHING_BETWEEN}
    with pytest.raises(UndecidedError, match="nothing between the start and the end"):
        judgement.check()


def test_an_empty_history__raises__unless_undecided_is_allowed() -> None:
    judgement = judge([])
    with pytest.raises(UndecidedError) as raised:
        judgement.check()
    assert raised.value.reasons == dict.fromkeys(judgement.names, EMPTY)
    judgement.check(allow_undecided=True)


def test_a_hole_before_a_double_owner__raises(history: History) -> None:
    events = history(MemberStarted(member="m1"), MemberStarted(member="m1"), GOOD, BAD)
    del events[0]
    with pytest.raises(UndecidedError, match="expected number 0, got 1"):
        judge(events, [NoDoubleOwnership]).check()


def test_a_source_without_a_line__may_be_the_coordinator__where_no_event_of_one_was_seen(history: History) -> None:
    began = IncarnationStarted(incarnation=0, generation=0, status="Empty")
    attested = RunEnded(last=(("g", "x", 7),))
    for seen, outcome in (((), Outcome.UNDECIDED), ((began,), Outcome.VIOLATED)):
        events = history(*seen, GOOD, BAD, attested, ended=False)
        assert judge(events, NoDoubleOwnership).verdict("no_double_ownership").outcome is outcome


def test_a_record_of_a_status_store__concerns_its_worker() -> None:
    sent = StatusAppended(
        worker="w0/2", key="status-connector-c", attempt=0, send=1, partition=0, offset=0, source="log"
    )
    assert concerned_by([sent]) >= {"log", "w0"}


def test_a_checker_that_fails__raises(history: History) -> None:
    class Crashes(Fold):
        def __init__(self, invariant: Invariant) -> None:
            super().__init__(invariant, {MemberStarted: self.on_started})

        def on_started(self, _event: MemberStarted) -> None:
            raise ZeroDivisionError

    crashes = Invariant(name="c", family="f", claim="c", source="s", violation=Violation, fold=Crashes)
    with pytest.raises(UndecidedError, match="the checker itself failed"):
        judge(history(MemberStarted(member="m0")), crashes).check()


def test_a_violation__is_raised_before_what_is_undecided(history: History) -> None:
    judgement = judge(history(BEGUN, GOOD, BAD, ended=False), ["no_double_ownership", "rebalance_completes"])
    assert judgement.undecided.keys() == {"rebalance_completes"}
    for allow in (False, True):
        with pytest.raises(NoDoubleOwnership.violation):
            judgement.check(allow_undecided=allow)


def test_undecided__is_raised_with_names_and_reasons__as_a_failure_of_the_test(history: History) -> None:
    with pytest.raises(UndecidedError, match="rebalance_completes: the history has no RunEnded") as raised:
        judge(history(BEGUN, GOOD, ended=False), ["no_double_ownership", "rebalance_completes"]).check()
    assert isinstance(raised.value, AssertionError)
    assert not isinstance(raised.value, Violation | RebalanceCheckError)
    assert pickle.loads(pickle.dumps(raised.value)).reasons == raised.value.reasons


def test_a_recording_without_a_run__reports_nothing_of_itself__and_holds(history: History) -> None:
    recorded = judge(history(GOOD, ended=False), ["no_double_ownership", "rebalance_completes"])
    assert recorded.verdict("rebalance_completes") == Untested("the history holds no RunEnded")
    assert recorded.outcome is Outcome.HELD
    cut_off = judge(history(BEGUN, GOOD, ended=False), ["no_double_ownership", "rebalance_completes"])
    assert cut_off.outcome is Outcome.UNDECIDED


def test_what_could_not_break__is_untested__and_the_reason_names_the_events_that_it_needs(history: History) -> None:
    judgement = judge(history(MemberStarted(member="m0"), GOOD), ["one_leader", "no_double_ownership"])
    assert judgement.verdict("one_leader") == Untested(
        "the history holds no JoinGroupReplied, MemberJoined or AssignmentComputed"
    )
    assert judgement.verdict("no_double_ownership") == Held(1)
    assert (judgement.outcome, judgement.exit_code) == (Outcome.HELD, 0)
    judgement.check()


def test_untested__is_undecided_where_each_claim_must_be_tested(history: History) -> None:
    judgement = judge(history(GOOD), ["one_leader", "no_double_ownership"], require_tested=True)
    assert (judgement.outcome, judgement.exit_code) == (Outcome.UNDECIDED, 12)
    with pytest.raises(
        UndecidedError, match="one_leader: untested: the history holds no JoinGroupReplied, MemberJoined"
    ):
        judgement.check()


def test_the_only_claim_is_untested__is_undecided(history: History) -> None:
    judgement = judge(history(MemberStarted(member="m0")), "one_leader")
    assert judgement.exit_code == 12
    with pytest.raises(UndecidedError, match="one_leader: untested"):
        judgement.check()


def test_a_claim__is_untested_only_where_it_is_untested_in_every_group(history: History) -> None:
    quiet, busy = history(MemberStarted(member="m0"), group="quiet"), history(GOOD, group="busy")
    assert judge([*quiet, *busy], NoDoubleOwnership).verdict("no_double_ownership") == Held(1)
    again = history(MemberStarted(member="m0"), group="other")
    assert isinstance(judge([*quiet, *again], NoDoubleOwnership).verdict("no_double_ownership"), Untested)


def test_the_worst_of_several_groups() -> None:
    held, untested, undecided = Held(2), Untested("no event"), Undecided("a hole")
    assert worst([untested, held]) == held
    assert worst([held, undecided, untested]) == undecided
    assert worst([untested, Untested("other")]) == untested
    assert isinstance(worst([]), Untested)


@pytest.mark.parametrize(
    ("outcomes", "overall", "when_required"),
    [
        ({Outcome.HELD}, Outcome.HELD, Outcome.HELD),
        ({Outcome.HELD, Outcome.UNTESTED}, Outcome.HELD, Outcome.UNDECIDED),
        ({Outcome.UNTESTED}, Outcome.UNDECIDED, Outcome.UNDECIDED),
        (set(), Outcome.UNDECIDED, Outcome.UNDECIDED),
        ({Outcome.HELD, Outcome.UNDECIDED}, Outcome.UNDECIDED, Outcome.UNDECIDED),
        (set(Outcome), Outcome.VIOLATED, Outcome.VIOLATED),
    ],
)
def test_what_claims_amount_to(outcomes: set[Outcome], overall: Outcome, when_required: Outcome) -> None:
    assert overall_outcome(outcomes) is overall
    assert overall_outcome(outcomes, require_tested=True) is when_required
    for required, expected in ((False, overall), (True, when_required)):
        claims = [(outcome, Kind.LIVENESS) for outcome in outcomes]
        assert exit_code_of_claims(claims, require_tested=required).outcome is expected


def test_a_liveness_violation_and_nothing_worse__is_11() -> None:
    claims = [(Outcome.VIOLATED, Kind.LIVENESS), (Outcome.UNDECIDED, Kind.SAFETY)]
    assert exit_code_of_claims(claims) is ExitCode.LIVENESS


def test_the_history_may_be_a_path__and_the_invariants_names(history: History, tmp_path: Path) -> None:
    events = history(GOOD, BAD, MemberJoined(member="m0", generation=1))
    path = tmp_path / "history.jsonl"
    write_history(path, events)
    expected = judge(events, [NoDoubleOwnership]).verdicts
    for invariants in (NoDoubleOwnership, "no_double_ownership", "NoDoubleOwnership", ["no_double_ownership"]):
        for source in (events, iter(events), path, str(path)):
            assert judge(source, invariants).verdicts == expected
    assert judge(path, ["no_double_ownership", NoDoubleOwnership]).verdicts == expected


def test_a_name_that_is_none__is_refused(history: History) -> None:
    for misuse in ({"invariants": "no_such"}, {"exclude": ["no_such"]}, {"without": ["no_such"]}):
        with pytest.raises(RebalanceCheckError, match="'no_such'"):
            judge(history(GOOD), **misuse)


def test_what_is_excluded__does_not_count(history: History) -> None:
    judgement = judge(history(GOOD, BAD, ended=False), exclude=["ownership", "deadlines"])
    assert not {"no_double_ownership", "revoked_before_reassigned", "rebalance_completes"} & set(judgement.names)
    assert judgement.counterexamples == ()
    with pytest.raises(RebalanceCheckError, match="nothing is left to judge of the 1 invariants"):
        choose("no_double_ownership", exclude="ownership")


def test_choose__without_arguments_is_the_catalogue__and_no_invariants_are_none() -> None:
    assert choose() == CATALOGUE
    assert choose([]) == ()
    assert choose(["deadlines", "no_double_ownership"]) == (*select(["deadlines"]), NoDoubleOwnership)


def test_a_run_end_without_a_group__tests_nothing() -> None:
    judgement = judge([RunEnded(source="harness", seq=0)])
    assert judgement.exit_code == 12
    assert judgement.held == ()


def test_an_event_that_cannot_break_a_claim__leaves_it_untested(history: History) -> None:
    verdict = judge(history(MemberStarted(member="m0"), MemberLeft(member="m0")), "callbacks_alternate").verdict(
        "callbacks_alternate"
    )
    assert isinstance(verdict, Untested)
    assert "PartitionsAssigned" in verdict.reason
