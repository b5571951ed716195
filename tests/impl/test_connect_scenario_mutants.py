"""Defects of a Connect worker that simulated groups give no occasion to: each breaks the claim that it names here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.impl.mutants import IMPL_MUTANTS, planted
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from tests.impl.scripted_worker import Configs, ScriptedWorker, member, work
from tests.impl.test_worker_leading import lead


def leader_behind() -> list[Event]:
    """Another worker has read further than the leader ever does."""
    worker = ScriptedWorker(configs=Configs(1, {"c0": 1}))
    lead(worker, ConnectMode.SESSIONED, 1, member("n", 5))
    return worker.events


def numbered(events: list[Event]) -> list[Event]:
    """The events with numbers from 0: a scripted worker leaves out those of its start."""
    return [replace(event, seq=number) for number, event in enumerate(events)]


SCENARIOS: Final[dict[str, Callable[[], list[Event]]]] = {
    "mismatch-names-the-leaders-offset": leader_behind,
    "leader-behind-assigns": leader_behind,
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_scenario_breaks_the_claim__with_the_mutant_alone(name: str) -> None:
    claim = IMPL_MUTANTS[name].caught_by
    assert judge(numbered(SCENARIOS[name]())).verdict(claim).outcome is not Outcome.VIOLATED
    with planted(name):
        events = SCENARIOS[name]()
    assert judge(numbered(events)).verdict(claim).outcome is Outcome.VIOLATED


def test_a_failed_round_is_taken_for_an_assignment__by_the_planted_defect() -> None:
    def joins_again() -> bool:
        worker = ScriptedWorker()
        worker.round(1, work("c0"))
        worker.coordinator.request_rejoin("again")
        worker.round(2, work(error=1, offset=9))
        return worker.coordinator.rejoin_needed_or_pending()

    assert joins_again()
    with planted("config-mismatch-ignored"):
        assert not joins_again()
