"""The judge: premises before claims, faults of its own undecided, the worst verdict and its exit code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    HeartbeatReplied,
    IncarnationStarted,
    MemberAdded,
    MemberLeft,
    MemberStarted,
    PartitionsAssigned,
    RequestParked,
    RunEnded,
    RunStarted,
    SyncGroupReplied,
)
from rebalance_check.properties.catalogue import CATALOGUE, families, select
from rebalance_check.properties.judge import Judge, judge
from rebalance_check.properties.kinds import Fold, Invariant, Kind
from rebalance_check.properties.laws.ownership import NoDoubleOwnership
from rebalance_check.properties.verdict import Because, Outcome, Undecided, Violated, Violation
from rebalance_check.properties.views.coordinator import Incarnation

History = Callable[..., list[Event]]
CLASH = [
    PartitionsAssigned(member="m0", generation=1, partitions=("t-0",)),
    PartitionsAssigned(member="m1", generation=1, partitions=("t-0",)),
]


class Broke(Violation):
    """The claims of this file."""


class NobodyStarts(Fold):
    """Breaks when a member starts."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberStarted: self.on_started})

    def on_started(self, event: MemberStarted) -> None:
        self.violated(f"{event.member} started", [Because("it did", event)], [event])


class Crashes(NobodyStarts):
    """Has a fault of its own."""

    def on_started(self, event: MemberStarted) -> None:
        raise ZeroDivisionError(event.member)


class CannotConclude(NobodyStarts):
    """Its verdict has a fault of its own."""

    def verdict(self) -> Undecided:
        raise ZeroDivisionError


def claim(fold: Callable[[Invariant], Fold], kind: Kind = Kind.SAFETY, needs_end: bool = False) -> Invariant:
    return Invariant(
        name=f"claim_{kind}", family="test", claim="c", source="s", violation=Broke, fold=fold, kind=kind,
        needs_end=needs_end,
    )  # fmt: skip


def cannot_start(_invariant: Invariant) -> Fold:
    raise ZeroDivisionError


def test_violated_safety__exits_10__even_when_liveness_is_violated_too(history: History) -> None:
    safety, liveness = claim(NobodyStarts), claim(NobodyStarts, Kind.LIVENESS)
    judgement = judge(history(MemberStarted(member="m0")), [liveness, safety])
    assert judgement.exit_code == 10
    assert [c.invariant for c in judgement.counterexamples] == ["claim_safety", "claim_liveness"]
    assert judge(history(MemberStarted(member="m0")), [liveness]).exit_code == 11
    assert judge(history(MemberLeft(member="m0")), [liveness, safety]).exit_code == 12  # neither was tested


@pytest.mark.parametrize("fold", [Crashes, CannotConclude, cannot_start])
def test_a_checker_that_fails__is_undecided_and_never_violated(
    history: History, fold: Callable[[Invariant], Fold]
) -> None:
    judgement = judge(history(MemberStarted(member="m0"), *CLASH), [claim(fold)])
    verdict = judgement.verdict("claim_safety")
    assert isinstance(verdict, Undecided)
    assert "the checker itself failed (ZeroDivisionError" in verdict.reason
    assert judgement.exit_code == 12


def test_a_checker_that_fails__leaves_the_others_judging(history: History) -> None:
    judgement = judge(history(MemberStarted(member="m0"), *CLASH), [claim(Crashes), NoDoubleOwnership])
    assert judgement.verdict("no_double_ownership").outcome is Outcome.VIOLATED
    assert judgement.verdict("claim_safety").outcome is Outcome.UNDECIDED


def test_a_hole_in_a_source__after_it_nothing_is_concluded(history: History) -> None:
    events = history(MemberStarted(member="m0"), MemberStarted(member="m0"), *CLASH)
    del events[1]
    judgement = judge(events, [NoDoubleOwnership])
    verdict = judgement.verdict("no_double_ownership")
    assert isinstance(verdict, Undecided)
    assert "m0" in verdict.reason
    assert "expected number 1, got 2" in verdict.reason


def test_a_hole_in_a_source__a_violation_before_it_stands(history: History) -> None:
    events = history(*CLASH, *[MemberStarted(member=member) for member in ("m0", "m1", "m0", "m0")])
    del events[4]
    assert judge(events, [NoDoubleOwnership]).outcome is Outcome.VIOLATED


def test_a_hole_in_one_group__leaves_another_decided(history: History) -> None:
    broken = (
        history(MemberStarted(member="m0"), group="one", ended=False)[:0]
        + history(MemberStarted(member="m0"), MemberStarted(member="m0"), group="one", ended=False)[1:]
    )
    judgement = judge([*broken, *history(*CLASH, group="two")], [NoDoubleOwnership])
    assert judgement.outcome is Outcome.VIOLATED


def test_a_first_event_that_is_not_number_0__is_a_hole(history: History) -> None:
    events = history(MemberStarted(member="m0"), MemberStarted(member="m0"))[1:]
    assert judge(events, [NoDoubleOwnership]).outcome is Outcome.UNDECIDED


def test_a_history_without_its_end__is_undecided_where_the_end_matters(history: History) -> None:
    events = history(PartitionsAssigned(member="m0", generation=1, partitions=("t-0",)), ended=False)
    assert judge(events, [claim(NobodyStarts, needs_end=True)]).outcome is Outcome.UNDECIDED
    assert judge(events, [NoDoubleOwnership]).outcome is Outcome.HELD
    assert judge(events, [NoDoubleOwnership]).ended is False


def test_a_history_without_its_end__a_violation_stands(history: History) -> None:
    events = history(MemberStarted(member="m0"), ended=False)
    assert judge(events, [claim(NobodyStarts, needs_end=True)]).outcome is Outcome.VIOLATED


def test_an_empty_history__is_undecided() -> None:
    assert judge([], [NoDoubleOwnership]).exit_code == 12


def test_two_runs_in_one_history__is_undecided(history: History) -> None:
    start = RunStarted(subject="model")
    judgement = judge(history(start, MemberStarted(member="m0"), start, *CLASH), [NoDoubleOwnership])
    verdict = judgement.verdict("no_double_ownership")
    assert isinstance(verdict, Undecided)
    assert "second RunStarted" in verdict.reason


def test_the_run_s_own_events__reach_every_group(history: History) -> None:
    observed: list[Event] = []

    class Listens(Fold):
        def __init__(self, invariant: Invariant) -> None:
            super().__init__(invariant, {RunStarted: observed.append, RunEnded: observed.append})

    one = history(RunStarted(subject="model"), MemberStarted(member="m0"), group="one", ended=False)
    judge([*one, *history(MemberStarted(member="m0"), group="two")], [claim(Listens)])
    assert [type(e).__name__ for e in observed] == ["RunStarted", "RunStarted", "RunEnded", "RunEnded"]


def test_a_judge_can_be_asked_at_any_time(history: History) -> None:
    judging = Judge([NoDoubleOwnership])
    first, second, *_ = history(*CLASH)
    judging.observe(first)
    judging.judgement().check()
    judging.observe(second)
    verdict = judging.judgement().verdict("no_double_ownership")
    assert isinstance(verdict, Violated)
    assert verdict.count == 1


def test_select__by_name_by_family_and_by_class_spelling() -> None:
    assert select([]) == CATALOGUE
    assert select(["NoDoubleOwnership"]) == (NoDoubleOwnership,)
    assert select(["no_double_ownership", "ownership"]) == tuple(i for i in CATALOGUE if i.family == "ownership")


def test_select__an_unknown_name__lists_what_there_is() -> None:
    with pytest.raises(RebalanceCheckError, match=r"'at_most_two' names no invariant.*no_double_ownership.*ownership"):
        select(["no_double_ownership", "at_most_two"])


def test_each_invariant__has_a_name_of_its_own_and_an_exception_of_its_own() -> None:
    assert len({i.name for i in CATALOGUE}) == len(CATALOGUE)
    assert len({i.violation for i in CATALOGUE}) == len(CATALOGUE)
    assert all(i.claim and i.source and i.violation.__doc__ for i in CATALOGUE)
    assert not {i.name for i in CATALOGUE} & set(families())


def test_a_fault_in_what_claims_remember_together_makes_all_of_them_undecided(
    history: Callable[..., list[Event]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_self: Incarnation, _event: MemberAdded) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Incarnation, "added", fail)
    events = history(
        MemberAdded(incarnation=0, generation=0, member_id="a"),
        PartitionsAssigned(member="m", generation=1, partitions=("t-0",)),
    )
    judgement = judge(events, select(["callbacks_alternate", "one_member_per_instance", "leader_is_member"]))

    assert {name: judgement.verdict(name).outcome for name in judgement.names} == {
        "callbacks_alternate": Outcome.HELD,
        "one_member_per_instance": Outcome.UNDECIDED,
        "leader_is_member": Outcome.UNDECIDED,
    }
    assert "the checker itself failed" in str(judgement.verdict("leader_is_member"))


@pytest.mark.parametrize("others", [(), ("stale_generation_is_refused",), ("coordinator",)], ids=str)
def test_a_claim_about_what_is_remembered_together_says_the_same__whatever_else_is_judged(
    history: Callable[..., list[Event]], others: tuple[str, ...]
) -> None:
    waited = RequestParked(incarnation=0, generation=0, api="Heartbeat", request=1, member_id="a", request_generation=0)
    refused = HeartbeatReplied(
        incarnation=0, generation=0, request=1, error="ILLEGAL_GENERATION", member_id="a", request_generation=0
    )
    passed = SyncGroupReplied(
        incarnation=0,
        generation=0,
        request=2,
        error="ILLEGAL_GENERATION",
        member_id="b",
        instance_id="i",
        request_generation=0,
    )
    events = history(
        IncarnationStarted(incarnation=0, generation=0, status="Empty"),
        MemberAdded(incarnation=0, generation=0, member_id="a", instance_id="i"), waited, refused, passed,
    )  # fmt: skip
    judgement = judge(events, select(["requests_are_fenced", *others]))

    assert judgement.verdict("requests_are_fenced").outcome is Outcome.VIOLATED
