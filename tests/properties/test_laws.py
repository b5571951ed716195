"""Each declaration over an engine shows a history that breaks it, one that holds, and one that is excused."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Callable
from dataclasses import MISSING, fields

import pytest

from rebalance_check.model.vocabulary.events import EVENT_TYPES, Event, RunEnded
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.engines.rules import RuleFold
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.seen_from_outside import OUTSIDE
from rebalance_check.properties.verdict import Held, Outcome, Untested, Violated

History = Callable[..., list[Event]]
DECLARED = [invariant for invariant in CATALOGUE if invariant.breaks]


_FILLED = {"connection": 1, "process": "p0", "version": 9, "incarnation": 0, "generation": 0, "error": "NONE"}
"""The values of fields that an event must have, where the history of a declaration leaves them out."""
_ANSWERS = {"ReplyObserved", "ReplyReceived", "RequestAnswered"}


def events_of(text: str) -> list[Event]:
    """The events of calls of event classes, one after the other.

    A request without a number has the next one, an answer without a number that of the request before it.
    """
    lines = "\n".join(line.strip() for line in text.splitlines())
    events: list[Event] = []
    number = 0
    for call in (node for node in ast.walk(ast.parse(lines)) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        known = {field.name: field.default for field in fields(EVENT_TYPES[name])}
        given = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
        filled = {k: v for k, v in _FILLED.items() if known.get(k) is MISSING or (k == "process" and k in known)}
        if "request" in known:
            number = given.setdefault("request", number if name in _ANSWERS else number + 1)
        events.append(EVENT_TYPES[name](**{**filled, **given}))
    return events


def whole(history: History, invariant: Invariant, text: str) -> list[Event]:
    """The history of a declaration, with its opening."""
    events = events_of(f"{invariant.opening}\n{text}")
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
    assert {type(event) for event in events_of(f"{invariant.opening}\n{invariant.breaks}")} <= OUTSIDE


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
