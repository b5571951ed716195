"""Scenarios on our coordinator, judged by the catalogue: a healthy one keeps to it, each mutant breaks what it names.

The mutants are those that a simulated group makes up for, or never meets.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rebalance_check.commands import _mutant_search
from rebalance_check.impl.mutants import IMPL_MUTANTS, Mutant, ScenarioSearch, planted
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.scenarios import Scenario, history_of
from rebalance_check.impl.scenarios.random_lines import DEFAULT_STEPS
from rebalance_check.impl.scenarios.random_scenarios import random_scenario
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.model.vocabulary.events import GroupDescribed, ReplyReceived
from rebalance_check.pipeline.scenario_runs import (
    KEPT,
    break_scenario,
    judge_scenario,
    shrink_scenario,
    simulate_scenario,
)
from rebalance_check.properties.catalogue import KAFKA_BREAKS, select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Counterexample, Held, Outcome, Untested
from tests.expectations import scenario_files, scenario_parameters

OF_SCENARIOS = [each for each in KEPT if all(way[0] <= {GroupDescribed, ReplyReceived} for way in each.needs)]
"""The invariants that only the steps of a scenario put to the test."""

MUTANTS = [mutant for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, ScenarioSearch)]

BROKEN_BY_OURS = {
    "group_fits_max_size": [
        "setting initial_rebalance_delay_ms=0 max_size=2",
        "join s instance=i session=30000 rebalance=2000",
        "join t version=1 session=30000 rebalance=2000",
        "join u version=1 session=30000 rebalance=2000",
        "advance 10000",
    ],
    "leave_without_members_changes_nothing": [
        "setting initial_rebalance_delay_ms=0", "join a version=3", "join b", "leave b",
    ],
    "no_server_error": ["setting initial_rebalance_delay_ms=0", "join d version=4", "join d instance=i"],
}  # fmt: skip
"""Claims that a client may expect, and our coordinator breaks in the same scenario as Kafka's."""


def broken(scenario: Scenario | list[str], invariants: Sequence[Invariant] = KEPT) -> list[Counterexample]:
    return list(judge(history_of(scenario), invariants).counterexamples)


@pytest.mark.parametrize(("path", "scenario"), scenario_parameters("coordinator"))
def test_a_scenario_breaks_no_invariant(path: Path, scenario: Scenario) -> None:
    assert broken(scenario) == []


def test_no_random_scenario_breaks_an_invariant() -> None:
    assert {seed: found for seed in range(80) if (found := broken(random_scenario(seed)))} == {}


WAITING_WRITES = (90_005_041, 90_005_587, 90_005_629, 90_012_515)
"""Seeds of scenarios in which a static member returns, or a group waits, while a record is not written yet."""


@pytest.mark.parametrize("seed", WAITING_WRITES)
def test_who_waits_for_a_write_is_neither_late_nor_early(seed: int) -> None:
    history = simulate_scenario(seed, SimulationOptions(steps=DEFAULT_STEPS))
    assert list(judge(history, KEPT).counterexamples) == []


def test_no_wide_scenario_breaks_an_invariant() -> None:
    assert {seed: found for seed in range(60) if (found := broken(wide_scenario(seed)))} == {}


@pytest.mark.parametrize(
    ("seed", "steps"),
    [
        (610_339, 40),  # a group that is described as Dead while the log is held
        (610_683, 80),  # timeouts of a member that was loaded
        (610_831, 40), (612_901, 40),  # a JoinGroup that was lost in a failover
        (611_674, 40), (612_059, 40), (612_549, 80),  # the session that a member had before it joined again
        (612_967, 40),  # a member that joins again after its SyncGroup
        (630_771, 80),  # a member that was removed while the group was described as Dead
        (640_839, 80),  # an assignment that a coordinator which resigns cannot write
        (650_457, 80),  # a member that waits although its reply said that a write failed
        (651_314, 40),  # the session of a predecessor that was loaded
        (652_673, 40),  # a commit that one incarnation took and another answers
        (662_347, 40),  # a replacement that could not be written
        (622_713, 80),  # a SyncGroup whose write failed
    ],
)  # fmt: skip
def test_a_scenario_that_was_accused_without_cause(seed: int, steps: int) -> None:
    assert broken(wide_scenario(seed, steps=steps)) == []


@pytest.mark.nightly
def test_no_random_scenario_breaks_an_invariant__in_many_more() -> None:
    assert {seed: found for seed in range(80, 10_000) if (found := broken(random_scenario(seed)))} == {}


@pytest.mark.nightly
def test_no_wide_scenario_breaks_an_invariant__in_many_more() -> None:
    assert {seed: found for seed in range(60, 6_000) if (found := broken(wide_scenario(seed)))} == {}


@pytest.mark.parametrize("name", BROKEN_BY_OURS)
def test_ours_breaks_what_kafka_breaks(name: str) -> None:
    assert [found.invariant for found in broken(BROKEN_BY_OURS[name], select([name]))] == [name]


def test_every_observed_invariant_is_put_to_the_test() -> None:
    checked = dict.fromkeys((invariant.name for invariant in OF_SCENARIOS), 0)
    for seed in range(60):
        for invariant, verdict in judge_scenario(wide_scenario(seed), OF_SCENARIOS).verdicts.items():
            assert isinstance(verdict, Held | Untested)
            checked[invariant.name] += getattr(verdict, "checked_events", 0)
    assert min(checked.values()) > 0


def test_every_observed_invariant_catches_a_mutant() -> None:
    assert {invariant.name for invariant in OF_SCENARIOS} <= {mutant.caught_by for mutant in MUTANTS}


def test_what_some_coordinator_of_kafka_breaks_is_asked_by_name_only() -> None:
    assert set(KEPT).isdisjoint(KAFKA_BREAKS)


@pytest.mark.parametrize("mutant", [mutant.name for mutant in MUTANTS if mutant.find == ScenarioSearch()])
def test_some_fixed_scenario_breaks_the_invariant_that_a_mutant_names(mutant: str) -> None:
    named = select([IMPL_MUTANTS[mutant].caught_by])

    with planted(mutant):
        assert any(broken(each, named) for _, each in scenario_files("coordinator"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_random_scenario_breaks_the_invariant_that_a_mutant_names__in_few_lines(mutant: Mutant) -> None:
    caught = _mutant_search.catch(mutant)
    assert caught is not None
    assert caught.steps <= 20


def test_a_healthy_coordinator_holds_in_the_shrunk_scenario_of_a_mutant() -> None:
    (invariant,) = select(["laggards_are_removed_in_time"])
    with planted("no-sync-deadline"):
        found = break_scenario(wide_scenario(10), [invariant])
        assert found is not None
        small = shrink_scenario(found, invariant)
        assert small.steps < found.steps
        assert break_scenario(small.lines, [invariant]) == small
    assert judge_scenario(small.lines, KEPT).outcome is Outcome.HELD


def test_a_scenario_is_a_function_of_its_seed() -> None:
    assert [wide_scenario(seed) for seed in range(20)] == [wide_scenario(seed) for seed in range(20)]
    assert history_of(wide_scenario(7)) == history_of(wide_scenario(7))
