"""What any coordinator promises, Kafka's keep; a defect that breaks a promise is seen from where Kafka is watched."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.mutants import IMPL_MUTANTS, Mutant, ScenarioPropertySearch, planted
from rebalance_check.impl.protocol.messages import GroupReply, GroupRequest
from rebalance_check.impl.scenarios.invariants import PROMISES
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.impl.scenarios.search import Told, broken_promise
from rebalance_check.impl.steered.coordinator import Answers, Observation
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.integration.differential import side_by_side as duet
from rebalance_check.integration.differential.campaign import campaign, finding_in
from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.integration.virtual.release import Release

NAMES = tuple(promise.name for promise in PROMISES)
NARRATED = [mutant for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, ScenarioPropertySearch)]

NO_BROKEN_PROMISE = {
    "in Scala the going of a refused member ends the join phase: who had the seats is answered in that step": [
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
"""What may look like a broken promise and is none; the first one looks so on the coordinator in Scala alone."""


def broken_by(mutant: Mutant) -> tuple[int, Told]:
    """The first scenario in which a mutant breaks the promise that it names."""
    assert isinstance(mutant.find, ScenarioPropertySearch)
    promises = [promise for promise in PROMISES if f"promises.{promise.name}" == mutant.caught_by]
    for seed in range(mutant.find.first, mutant.find.last):
        with planted(mutant):
            told = broken_promise(wide_scenario(seed), promises)
        if told is not None:
            return seed, told
    raise AssertionError(f"{mutant.name} breaks nothing")


class InKafkasPlace(InProcess):
    """Our coordinator behind the interface of `VirtualCoordinator`."""

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
        """What `collect` tells is as of now anyway."""

    def collect(self) -> tuple[Answers, Observation, int | None]:
        answers, self._answers = self._answers, []
        return answers, self.observe(duet.GROUP), self.next_deadline()

    def take_thrown(self) -> str:
        return ""

    def close(self) -> None:
        """Nothing to give back."""


@pytest.mark.virtual
def test_kafka_keeps_what_any_coordinator_promises__in_random_scenarios(kafka: VirtualKafka) -> None:
    done = campaign(kafka, range(40), names=NAMES)
    print(done)

    assert done.steps > 1_000
    assert [str(each) for each in done.found] == []


@pytest.mark.virtual
@pytest.mark.nightly
def test_kafka_keeps_what_any_coordinator_promises__in_many_more_scenarios(kafka: VirtualKafka) -> None:
    assert [str(each) for each in campaign(kafka, range(40, 2_000), names=NAMES).found] == []


@pytest.mark.virtual
@pytest.mark.parametrize("mutant", NARRATED, ids=lambda mutant: mutant.name)
def test_kafka_keeps_the_promise__in_the_very_scenario_in_which_a_mutant_breaks_it(
    kafka: VirtualKafka, mutant: Mutant
) -> None:
    seed, told = broken_by(mutant)
    found, steps = finding_in(kafka, told.scenario, seed, NAMES)

    assert found is None
    assert steps >= told.steps


@pytest.mark.virtual
@pytest.mark.parametrize("what", NO_BROKEN_PROMISE)
def test_what_only_looks_like_a_broken_promise_is_none(kafka: VirtualKafka, what: str) -> None:
    found, steps = finding_in(kafka, NO_BROKEN_PROMISE[what], 26, NAMES)

    assert found is None
    assert steps >= len(NO_BROKEN_PROMISE[what]) - 1


@pytest.mark.parametrize("mutant", NARRATED, ids=lambda mutant: mutant.name)
def test_a_mutant_in_kafkas_place_breaks_the_promise_it_names(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    seed, told = broken_by(mutant)
    monkeypatch.setattr(duet, "VirtualCoordinator", InKafkasPlace)
    kafka: Any = SimpleNamespace(release=Release("4.3.1", Path()))
    with planted(mutant):
        found, _ = finding_in(kafka, told.scenario, seed, (told.promise,))

    assert found is not None
    assert (found.name, found.scenario) == (told.promise, told.scenario)
