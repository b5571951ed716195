"""Kafka's coordinators keep to the invariants over a scenario's steps, and a mutant in their place is found out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rebalance_check.impl.comparison.compare import compared
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.mutants import IMPL_MUTANTS, Mutant, ScenarioSearch, planted
from rebalance_check.impl.protocol.messages import GroupReply, GroupRequest
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.impl.scenarios.recorded import GROUP
from rebalance_check.impl.steered.coordinator import Answers, Observation
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.integration.comparison.scenarios import run as scenario_run
from rebalance_check.integration.comparison.scenarios.campaign import campaign, finding_in
from rebalance_check.integration.comparison.scenarios.run import ScenarioRun
from rebalance_check.integration.jvm.release import Release
from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.pipeline.scenario_runs import BrokenScenario, break_scenario
from rebalance_check.properties.catalogue import KAFKA_BREAKS, select

BROKEN_BY_KAFKA = {invariant.name for invariant in KAFKA_BREAKS}
NAMES = tuple(name for name in scenario_run.JUDGED if name not in BROKEN_BY_KAFKA)
MUTANTS = [
    mutant for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, ScenarioSearch) and mutant.caught_by in NAMES
]

NO_VIOLATION = {
    "in Scala a refused member that goes ends the join phase: those that took its capacity are answered in that step": [
        "setting initial_rebalance_delay_ms=0 max_size=2",
        "join a version=2 session=3000 rebalance=60000",
        "join c version=2 session=3002 rebalance=60000",
        "join c version=2 session=3002 rebalance=60000",
        "join a version=2 session=3000 rebalance=60000",
    ],
    "a group is Stable when the log has its assignment, though all have synced before": [
        "setting initial_rebalance_delay_ms=0",
        "join d session=10000 rebalance=2000",
        "join d session=10000 rebalance=2000",
        "hold",
        "sync d last",
        "advance 2500",
    ],
    "a static member whose replacement the log acknowledges late has its session from the JoinGroup on": [
        "setting initial_rebalance_delay_ms=0",
        "join a session=3000 rebalance=2000 instance=i",
        "sync a last instance=i",
        "hold",
        "join a session=3000 rebalance=2000 instance=i as==",
        "advance 2000",
        "release",
        "join b session=30001 rebalance=5000",
        "join b session=30001 rebalance=5000",
        "advance 10000",
    ],
    "an offset that somebody deletes is gone": [
        "setting initial_rebalance_delay_ms=0",
        "commit - -1 offset=66",
        "offset-delete t-0",
        "fetch",
    ],
    "an offset that is as old as it may become is gone": [
        "setting offsets_retention_minutes=1 offsets_retention_check_interval_ms=10000",
        "commit - -1 offset=66",
        "advance 80000",
        "fetch",
    ],
}
"""Scenarios that look like a violation and are none; the first looks so on the coordinator in Scala alone."""


def broken_by(mutant: Mutant) -> tuple[int, BrokenScenario]:
    """The first scenario in which a mutant breaks the invariant that it names."""
    assert isinstance(mutant.find, ScenarioSearch)
    with planted(mutant):
        for seed in range(mutant.find.first, mutant.find.last):
            broken = break_scenario(wide_scenario(seed), select([mutant.caught_by]))
            if broken is not None:
                return seed, broken
    raise AssertionError(f"{mutant.name} breaks nothing")


class InKafkasPlace(InProcess):
    """Our coordinator in the place of `VirtualCoordinator`."""

    def __init__(self, _kafka: Any, config: GroupConfig, _seed: int) -> None:
        made = count(1)
        super().__init__(config, new_member_id=lambda prefix: f"{prefix}-{next(made)}")
        self._answers: list[tuple[Hashable, GroupReply]] = []
        self.defers = True

    def _later(self, answers: Answers) -> Sequence[tuple[Hashable, GroupReply]]:
        self._answers += answers
        return ()

    def handle(self, token: Hashable, request: GroupRequest, now_ms: int) -> Answers:
        return self._later(super().handle(token, request, now_ms))

    def advance(self, now_ms: int) -> Answers:
        return self._later(super().advance(now_ms))

    def release(self, now_ms: int) -> Answers:
        return self._later(super().release(now_ms))

    def load(self, now_ms: int) -> Answers:
        return self._later(super().load(now_ms))

    def unload(self, now_ms: int) -> Answers:
        return self._later(super().unload(now_ms))

    def look(self, group_id: str) -> None:
        """The answer of `collect` is as of now anyway."""

    def collect(self) -> tuple[Answers, Observation, int | None]:
        answers, self._answers = self._answers, []
        return answers, self.observe(GROUP), self.next_deadline()

    def take_thrown(self) -> str:
        return ""

    def close(self) -> None:
        """Nothing to give back."""


@pytest.mark.virtual
def test_kafka_violates_no_observed_invariant__in_random_scenarios(kafka: VirtualKafka) -> None:
    done = campaign(kafka, range(40), names=NAMES)
    print(done)

    assert done.counts["steps"] > 1_000
    assert list(map(str, done.differences)) == []


@pytest.mark.virtual
@pytest.mark.nightly
def test_kafka_violates_no_observed_invariant__in_many_more_scenarios(kafka: VirtualKafka) -> None:
    assert list(map(str, campaign(kafka, range(40, 2_000), names=NAMES).differences)) == []


@pytest.mark.virtual
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_kafka_holds__in_the_very_scenario_in_which_a_mutant_is_caught(kafka: VirtualKafka, mutant: Mutant) -> None:
    seed, broken = broken_by(mutant)
    run = ScenarioRun(kafka, broken.lines, seed, NAMES)

    assert compared(run) is None
    assert run.compared >= broken.steps


@pytest.mark.virtual
@pytest.mark.parametrize("what", NO_VIOLATION)
def test_what_only_looks_like_a_violation_is_none(kafka: VirtualKafka, what: str) -> None:
    run = ScenarioRun(kafka, NO_VIOLATION[what], 26, NAMES)

    assert compared(run) is None
    assert run.compared >= len(NO_VIOLATION[what]) - 1


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_in_kafkas_place_violates_the_invariant_it_names(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(mutant.find, ScenarioSearch)
    monkeypatch.setattr(scenario_run, "VirtualCoordinator", InKafkasPlace)
    kafka: Any = SimpleNamespace(release=Release("4.3.1", Path()))
    seeds = range(mutant.find.first, mutant.find.last)
    with planted(mutant):
        findings = (finding_in(kafka, wide_scenario(seed), seed, [mutant.caught_by]) for seed in seeds)
        found = next((one for one in findings if one is not None), None)

    assert found is not None
    assert found.start.name == mutant.caught_by
