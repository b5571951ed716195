"""A simulated cluster of status stores: the same seed gives the same history, and every run comes to rest."""

import hashlib
import os
import subprocess
import sys
from collections import Counter

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import SimulatorSubject, churn_schedule, drawn_protocol, simulate
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    RunEnded,
    RunStarted,
    StatusAppended,
    StatusGivenUp,
    StatusIgnored,
    StatusSent,
    StatusSuppressed,
)
from rebalance_check.model.vocabulary.schedule import run

OPTIONS = SimulationOptions(protocol=SimulatedProtocol.STATUS, steps=10)
DIGEST = """
import hashlib
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
options = SimulationOptions(protocol=SimulatedProtocol.STATUS, steps=10)
events = [event for seed in range(5) for event in simulate(seed, options)]
print(hashlib.sha256(repr(events).encode()).hexdigest())
"""


def history(seed: int, options: SimulationOptions = OPTIONS) -> list[Event]:
    return simulate(seed, options)


def test_one_seed_gives_one_history__under_any_hash_seed() -> None:
    here = hashlib.sha256(repr([event for seed in range(5) for event in history(seed)]).encode()).hexdigest()
    for hash_seed in ("1", "2"):
        other = subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert here == other.stdout.strip()


def test_another_seed_gives_another_history() -> None:
    assert len({repr(history(seed)) for seed in range(5)}) == 5


def test_every_run_comes_to_rest_in_the_healed_phase() -> None:
    for seed in range(30):
        events = history(seed)
        assert isinstance(events[0], RunStarted)
        assert isinstance(events[-1], RunEnded)
        assert events[-1].pending == ()


def test_numbers_of_a_source_have_no_hole() -> None:
    for seed in range(10):
        seen: Counter[str] = Counter()
        for event in history(seed):
            assert event.seq == seen[event.source]
            seen[event.source] += 1


def test_what_makes_a_store_interesting_happens() -> None:
    """Not vacuous: suppression, every reason to give up but an exception, stale records, retries, lost answers."""
    events = [event for seed in range(60) for event in history(seed)]
    reasons = {event.reason for event in events if isinstance(event, StatusGivenUp)}
    assert reasons == {"fatal", "deleted", "other generation", "superseded", "stopped"}
    assert {event.reason for event in events if isinstance(event, StatusIgnored)} == {"stale unassigned"}
    assert any(isinstance(event, StatusSuppressed) for event in events)
    assert any(isinstance(event, StatusSent) and event.send > 2 for event in events)
    runs = [Counter((e.worker, e.attempt) for e in history(s) if isinstance(e, StatusAppended)) for s in range(20)]
    assert max(max(appends.values()) for appends in runs) > 1  # an acknowledgement was lost


def test_an_omitted_step_leaves_the_others_as_they_are() -> None:
    first = next(seed for seed in range(20) if len(history(seed)) > 100)
    whole = history(first)
    last = len(churn_schedule(first, OPTIONS).actions) - 2
    shorter = history(first, SimulationOptions(protocol=SimulatedProtocol.STATUS, steps=10, omit=(last,)))
    assert whole[1:50] == shorter[1:50]


def test_a_schedule_of_status_stores_runs_on_the_simulator_as_on_any_subject() -> None:
    for seed in range(5):
        assert list(run(SimulatorSubject(OPTIONS), churn_schedule(seed, OPTIONS))) == history(seed)


def test_an_action_of_the_other_kind_of_run_is_refused_with_those_that_are_understood() -> None:
    mixed = SimulationOptions()
    statuses = next(seed for seed in range(20) if drawn_protocol(seed, mixed) is SimulatedProtocol.STATUS)
    consumers = next(seed for seed in range(20) if drawn_protocol(seed, mixed) is SimulatedProtocol.EAGER)
    subject = SimulatorSubject(mixed)

    subject.open(churn_schedule(statuses, mixed).bounds, statuses)
    with pytest.raises(
        RebalanceCheckError, match="status stores does not understand FailOver: choose one of AdvanceCl"
    ):
        subject.perform(Action(ActionKind.FAIL_OVER))
    subject.open(churn_schedule(consumers, mixed).bounds, consumers)
    with pytest.raises(RebalanceCheckError, match="a simulated group does not understand FailTask: choose one of Adva"):
        subject.perform(Action(ActionKind.FAIL_TASK))
    assert {ActionKind.FAIL_OVER, ActionKind.FAIL_TASK} <= subject.actions
    assert ActionKind.FAIL_OVER not in SimulatorSubject(OPTIONS).actions
