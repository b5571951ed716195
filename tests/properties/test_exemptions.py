"""The events that exempt a claim are declared: a history that lacks one of them may accuse without cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

import pytest

from rebalance_check.impl.runtime.options import ALL_FAULTS, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.impl.scenarios.recorded import OurScenario
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from tests.properties.test_home_made import KINDS, drawn
from tests.properties.test_smallest_histories import spelt_out


def without_events(history: list[Event], kind: type[Event]) -> list[Event]:
    """The history as it is recorded where these events are not, with new numbers."""
    numbers: Counter[tuple[str, str]] = Counter()
    kept = []
    for event in history:
        if type(event) is not kind:
            key = (event.group, event.source)
            kept.append(replace(event, seq=numbers[key]))
            numbers[key] += 1
    return kept


def exemptions(history: list[Event], without: Collection[str] = ()) -> Iterator[tuple[Invariant, type[Event]]]:
    """Each claim that a history breaks when it lacks one type of events, and that type."""
    known = {found.invariant for found in judge(history, without=without).counterexamples}
    for kind in sorted({type(event) for event in history}, key=lambda kind: kind.__name__):
        for invariant, verdict in judge(without_events(history, kind), without=without).verdicts.items():
            if verdict.outcome == "violated" and invariant.name not in known:
                yield invariant, kind


@pytest.mark.parametrize("protocol", SimulatedProtocol)
@pytest.mark.parametrize("seed", [0, pytest.param(3, marks=pytest.mark.nightly)])
def test_what_exempts_a_claim_in_a_simulated_run__is_declared(protocol: SimulatedProtocol, seed: int) -> None:
    options = SimulationOptions(protocol=protocol, faults=ALL_FAULTS, steps=16)
    for invariant, kind in exemptions(list(simulate(seed, options))):
        assert kind in invariant.exempted_by, f"{kind.__name__} exempts {invariant.name}"


@pytest.mark.parametrize("seed", range(2))
def test_what_exempts_a_claim_in_a_scenario__is_declared(seed: int) -> None:
    events: list[Event] = []
    for _ in OurScenario(wide_scenario(seed), events.append).steps():
        pass
    for invariant, kind in exemptions(events):
        assert kind in invariant.exempted_by, f"{kind.__name__} exempts {invariant.name}"


@pytest.mark.parametrize("name", KINDS)
def test_what_exempts_a_claim_at_a_home_made_coordinator__is_declared(name: str) -> None:
    kind_of_coordinator = KINDS[name]
    for invariant, kind in exemptions(kind_of_coordinator.run(drawn(0)), kind_of_coordinator.lacks):
        assert kind in invariant.exempted_by, f"{kind.__name__} exempts {invariant.name}"


@pytest.mark.parametrize("invariant", CATALOGUE, ids=lambda invariant: invariant.name)
def test_what_is_declared__is_read_by_the_claim(invariant: Invariant) -> None:
    fold = invariant.start({})
    taken = set(fold.kinds).union(*(memory.handlers for memory in fold.memories))
    assert taken.issuperset(invariant.exempted_by)
    assert all(needed <= taken for way in invariant.needs for needed in way)


@pytest.mark.parametrize("invariant", CATALOGUE, ids=lambda invariant: invariant.name)
def test_what_breaks_a_claim__has_all_that_the_claim_needs(invariant: Invariant) -> None:
    kinds = {RunEnded, *(type(event) for event in spelt_out(invariant))}
    assert any(all(needed & kinds for needed in way) for way in invariant.needs), invariant.needs
