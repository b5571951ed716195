"""Verdicts do not depend on when they are asked for: a violation stands, and asking in between changes nothing.

The histories break claims of all families: runs of mutants of the implementation, random paths of mutants of the
model, the smallest histories of the docstrings and of the status claims, and all of these at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from rebalance_check.impl.mutants import IMPL_MUTANTS, FuzzSearch, Mutant, ScenarioSearch, planted
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.impl.scenarios.recorded import OurScenario
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.registry import MUTANTS
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import Judge, judge
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import Outcome, Violated, Violation
from tests.model.test_mutants import mutants_in
from tests.model.test_worker_events import walked
from tests.properties.histories import each_third
from tests.properties.test_agreement_with_model import CLASSIC, walk
from tests.properties.test_smallest_histories import spelt_out

History = Callable[..., list[Event]]
CUTS = 4
LONGEST = 600
SIMULATED = [mutant for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, FuzzSearch)]
IN_SCENARIOS = [mutant for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, ScenarioSearch)]
OF_THE_MODEL = [name for name in CLASSIC if name]
WALK_OF_WORKERS = 60
BY_HAND = CATALOGUE


def judged(judging: Judge, events: Sequence[Event]) -> Judgement:
    for event in events:
        judging.observe(event)
    return judging.judgement()


def check_prefixes(events: Sequence[Event], random: Random) -> Judgement:
    """Judge a history, once asking at random places and at the end, once at the end only."""
    cuts = sorted({0, len(events), *(random.randint(0, len(events)) for _ in range(CUTS))})
    asked = Judge()
    said = [asked.judgement()] + [judged(asked, events[first:end]) for first, end in pairwise(cuts)]
    for cut, judgement in zip(cuts[1:-1], said[1:-1], strict=True):
        check_nothing_is_said_too_early(judgement, said[-1])
        if cut == cuts[len(cuts) // 2]:
            assert judge(events[:cut]).verdicts == judgement.verdicts
    assert judge(events).verdicts == said[-1].verdicts == asked.judgement().verdicts
    return said[-1]


def check_nothing_is_said_too_early(prefix: Judgement, whole: Judgement) -> None:
    for invariant, early in prefix.verdicts.items():
        late = whole.verdicts[invariant]
        if isinstance(early, Violated):
            assert isinstance(late, Violated), invariant
            assert late.counterexample == early.counterexample
            assert late.count >= early.count
        if invariant.needs_end and not prefix.ended:
            assert early.outcome is not Outcome.HELD


@pytest.mark.parametrize("mutant", each_third(SIMULATED), ids=lambda mutant: mutant.name)
def test_runs_of_mutants_of_the_implementation(mutant: Mutant) -> None:
    assert isinstance(mutant.find, FuzzSearch)
    history = simulate(mutant.find.first, replace(mutant.find.options, mutant=mutant.name))
    check_prefixes(history[:LONGEST], Random(mutant.name))


@pytest.mark.parametrize("mutant", IN_SCENARIOS, ids=lambda mutant: mutant.name)
def test_scenarios_on_mutants_of_the_coordinator(mutant: Mutant) -> None:
    events: list[Event] = []
    with planted(mutant):
        for _ in OurScenario(wide_scenario(1), events.append).steps():
            pass
    check_prefixes(events, Random(mutant.name))


@pytest.mark.parametrize("mutant", each_third(OF_THE_MODEL))
def test_paths_of_mutants_of_the_model(history: History, mutant: str) -> None:
    events, _ = walk(MUTANTS[mutant].bounds, mutant, seed=0)
    check_prefixes(history(*events), Random(mutant))


@pytest.mark.parametrize("mutant", mutants_in("connect.workers"), ids=lambda mutant: mutant.name)
def test_paths_of_mutants_of_worker_groups(history: History, mutant: ModelMutant) -> None:
    events = walked(mutant.bounds, 0, WALK_OF_WORKERS, mutant.name).events
    check_prefixes(history(*(event for caused in events for event in caused)), Random(mutant.name))


@pytest.mark.parametrize("invariant", BY_HAND, ids=lambda invariant: invariant.name)
def test_the_smallest_history_that_breaks_a_claim(history: History, invariant: Invariant) -> None:
    events = spelt_out(invariant)
    whole = history(*events, ended=not isinstance(events[-1], RunEnded))
    judgement = check_prefixes(whole, Random(invariant.name))
    assert judgement.verdict(invariant.name).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("seed", range(6))
def test_several_groups_in_which_much_is_broken(history: History, seed: int) -> None:
    """The first counterexample is that of the group that broke the claim first, wherever it was seen first."""
    random = Random(seed)
    everything = [event for each in BY_HAND for event in spelt_out(each)]
    of_groups = [
        replace(e, group=random.choice("gh"), time_ms=0) for e in everything if not isinstance(e, RunStarted | RunEnded)
    ]
    random.shuffle(of_groups)
    started = RunStarted(subject="all that is broken", punctual=True, group="g")
    judgement = check_prefixes(history(started, *of_groups, pending=("much",)), random)
    assert len(judgement.counterexamples) > 12


class _BreaksThenFails(Fold):
    """A checker that finds a violation and fails at the next event."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RunEnded: self.on_ended})

    def on_ended(self, event: RunEnded) -> None:
        if self.count:
            raise ZeroDivisionError("the checker is broken")
        self.contradiction("the run ended", ("it did.", event))


def test_a_violation_stands__when_the_checker_fails_later(history: History) -> None:
    claim = Invariant(
        name="never_ends", family="ours", claim="no end", source="ours", violation=Violation, fold=_BreaksThenFails
    )
    ended_twice = history(RunEnded(), RunEnded(), ended=False)
    early, late = (judge(events, [claim]).verdicts[claim] for events in (ended_twice[:1], ended_twice))
    assert isinstance(early, Violated)
    assert isinstance(late, Violated)
    assert late.counterexample == early.counterexample
