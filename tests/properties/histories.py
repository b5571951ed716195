"""Histories under construction: bare events get their group, source and number; texts of `tests/data/histories`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from rebalance_check.impl.scenarios import Scenario
from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.examples import events_of
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.by_kip import WireClaims
from rebalance_check.properties.verdict import Held, Undecided, Untested, Verdict, Violated
from tests.properties.on_the_wire import Wire

WIRE: Final = "wire"
"""Stands for all claims about requests on the wire, where the name of a claim or of a family may stand."""


def each_third(cases: Sequence[Any]) -> list[Any]:
    """Every third as a case of each run, the others as nightly ones."""
    return [one if at % 3 == 0 else pytest.param(one, marks=pytest.mark.nightly) for at, one in enumerate(cases)]


def stamped(*events: Event, ended: bool = True, group: str = "g", pending: tuple[str, ...] = ()) -> list[Event]:
    """Bare events with group, source and sequence number, and the orderly end of their run."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for event in (*events, *([RunEnded(pending=pending)] if ended else [])):
        source = event.source or getattr(event, "member", "") or getattr(event, "worker", "")
        source = source or ("coordinator" if hasattr(event, "incarnation") else "harness")
        key = (event.group or group, source)
        found.append(replace(event, group=key[0], source=source, seq=seen[key]))
        seen[key] += 1
    return found


def verdicts_of(scenario: Scenario, openings: Mapping[str, Scenario]) -> list[str]:
    """The answers to the lines of a history: of ``verdict CLAIM...`` what the judge says, of other lines none.

    Lines are calls of event classes, or of the methods of `Wire`; ``after TITLE`` (the events of that scenario come
    first); and ``cut`` (the history ends there, without the end of its run).
    """
    texts, answers = list(texts_of(scenario, openings)), []
    events = on_the_wire(texts) if texts and texts[0][0].islower() else events_of(*texts)
    history = stamped(*events, ended=all(line.step != "cut" for line in scenario.lines))
    for line in scenario.lines:
        verb, *words = line.step.split()
        answers.append(verdict_on(history, words) if verb == "verdict" else "")
    return answers


def texts_of(scenario: Scenario, openings: Mapping[str, Scenario]) -> Iterator[str]:
    """The texts of the events of a scenario, after those of the opening that it names."""
    for line in scenario.lines:
        verb, _, rest = line.step.partition(" ")
        if verb == "after":
            yield from texts_of(openings[rest], openings)
        elif verb not in {"verdict", "cut"}:
            yield line.step


def on_the_wire(texts: Iterable[str]) -> list[Event]:
    """The events of calls of methods of `Wire`."""
    wire = Wire()
    for node in ast.walk(ast.parse("\n".join(texts))):
        if isinstance(node, ast.Call):
            given = {str(each.arg): ast.literal_eval(each.value) for each in node.keywords}
            getattr(wire, ast.unparse(node.func))(*map(ast.literal_eval, node.args), **given)
    return wire.events


def verdict_on(history: list[Event], words: list[str]) -> str:
    """The verdict on a claim in words, or the claims of a family, or of several words, that are violated.

    A claim about the wire is judged among all of them, and those of the others that are violated are named, too.
    """
    named = [one for word in words for one in (WireClaims if word == WIRE else select([word]))]
    alone = named[0] if len(named) == 1 else None
    judgement = judge(history, WireClaims if alone in WireClaims else named)
    broken = [found.invariant for found in judgement.counterexamples if alone is None or found.invariant != alone.name]
    others = f"violated: {', '.join(broken)}" if broken else ""
    if alone is None:
        return others or "none is violated"
    return "; ".join(filter(None, (in_words(judgement.verdict(alone.name)), others)))


def in_words(verdict: Verdict) -> str:
    """The outcome, with the headline of a violation, the reason of a doubt, or the exemptions that applied."""
    match verdict:
        case Violated():
            return f"violated: {verdict.counterexample.headline}"
        case Undecided() | Untested():
            return f"{verdict.outcome}: {verdict.reason}"
        case Held():
            return ", excused: ".join([verdict.outcome, *sorted(name for name, _ in verdict.excused)])
