"""Each declaration over an engine shows a history that breaks it, one that holds, and one that is excused."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.engines.rules import RuleFold
from rebalance_check.properties.examples import events_of
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.seen_from_outside import OUTSIDE
from rebalance_check.properties.verdict import Held, Outcome, Untested, Violated

History = Callable[..., list[Event]]
DECLARED = [invariant for invariant in CATALOGUE if invariant.breaks]


def whole(history: History, invariant: Invariant, text: str) -> list[Event]:
    """The history of a declaration, with its opening."""
    events = events_of(invariant.opening, text)
    return history(*events, ended=not isinstance(events[-1], RunEnded))


def named(invariant: Invariant) -> str:
    return invariant.name


@pytest.mark.parametrize("invariant", DECLARED, ids=named)
def test_a_declaration_over_an_engine__has_a_history_that_breaks_it_and_one_that_holds(invariant: Invariant) -> None:
    assert isinstance(invariant.fold(invariant), RuleFold)
    assert invariant.holds


@pytest.mark.parametrize("invariant", DECLARED, ids=named)
def test_the_rule_of_an_invariant__events_that_are_seen_from_outside_break_it(invariant: Invariant) -> None:
    assert invariant.source
    assert any(all(needed & OUTSIDE for needed in way) for way in invariant.needs)
    assert {type(event) for event in events_of(invariant.opening, invariant.breaks)} <= OUTSIDE


@pytest.mark.parametrize("invariant", DECLARED, ids=named)
def test_it_breaks(history: History, invariant: Invariant) -> None:
    verdict = judge(whole(history, invariant, invariant.breaks), invariant).verdict(invariant.name)
    assert isinstance(verdict, Violated)


@pytest.mark.parametrize("invariant", DECLARED, ids=named)
def test_it_holds__and_could_have_failed(history: History, invariant: Invariant) -> None:
    verdict = judge(whole(history, invariant, invariant.holds), invariant).verdict(invariant.name)
    assert isinstance(verdict, Held), verdict
    assert verdict.checked_events


@pytest.mark.parametrize("invariant", [i for i in DECLARED if i.excuses], ids=named)
def test_an_exemption_excuses__and_is_named(history: History, invariant: Invariant) -> None:
    verdict = judge(whole(history, invariant, invariant.excuses), invariant).verdict(invariant.name)
    if isinstance(verdict, Untested):
        assert verdict.reason.startswith("each case is excused: ")
    else:
        assert isinstance(verdict, Held), verdict
        assert verdict.excused


@pytest.mark.parametrize("invariant", DECLARED, ids=named)
def test_its_exception_is_derived__and_travels_between_processes(history: History, invariant: Invariant) -> None:
    judgement = judge(whole(history, invariant, invariant.breaks), invariant)
    with pytest.raises(invariant.violation) as raised:
        judgement.check()
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is invariant.violation
    assert again.counterexample == raised.value.counterexample
    assert judgement.outcome is Outcome.VIOLATED
