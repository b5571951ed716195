"""A claim is started at the first event that concerns it; its verdict is that of one started before all events."""

from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.impl.runtime.options import ALL_FAULTS, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import ConfigRead, Event, RunStarted
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.listening import listening
from rebalance_check.properties.panel import Panel


def shortened(history: list[Event]) -> list[list[Event]]:
    """The history, one that was cut off, and one without its beginning and numbers."""
    return [history, history[: len(history) // 2], [replace(event, seq=-1) for event in history[len(history) // 3 :]]]


@pytest.mark.parametrize("protocol", SimulatedProtocol)
def test_a_claim_that_starts_late_says_the_same(protocol: SimulatedProtocol, monkeypatch: pytest.MonkeyPatch) -> None:
    options = SimulationOptions(protocol=protocol, faults=ALL_FAULTS)
    histories = [some for seed in range(2) for some in shortened(simulate(seed, options))]
    late = [judge(history).verdicts for history in histories]
    begin = Panel._begin

    def begin_all(panel: Panel, kind: type[Event]) -> Any:
        for invariant in () if panel.folds else panel.invariants:
            panel._start(invariant)
        return begin(panel, kind)

    monkeypatch.setattr(Panel, "_begin", begin_all)
    assert [judge(history).verdicts for history in histories] == late


def test_claims_that_no_event_concerns_are_not_started() -> None:
    waiting = listening(tuple(CATALOGUE)).waiting
    assert 0 < len(waiting[ConfigRead]) < len(CATALOGUE) / 4


def test_a_memory_takes_events_before_a_claim_that_looks_at_it_is_started() -> None:
    known = listening(tuple(CATALOGUE))
    waiting = {one.name for one in known.waiting[RunStarted]}
    early = set(known.memories[RunStarted])
    assert any(early & looks for name, looks in known.looks.items() if name not in waiting)


def test_a_fold_that_cannot_start_silences_its_own_claim_only() -> None:
    def broken(_: Invariant) -> Fold:
        raise ValueError("no fold")

    bad = replace(CATALOGUE[0], name="cannot_start", fold=broken)
    history, good = simulate(0, SimulationOptions()), CATALOGUE[0]
    judgement = judge(history, [bad, good])
    assert "ValueError: no fold" in str(judgement.verdicts[bad])
    assert judgement.verdicts[good] == judge(history, [good]).verdicts[good]
