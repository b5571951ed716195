"""The status model: pinned counts, claims that hold, races that are reached, and mutants that are found."""

import itertools
from random import Random

import pytest

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.safety import Path, explore
from rebalance_check.model.connect.status.model import MODEL
from rebalance_check.model.connect.status.mutants import STATUS_MUTANTS
from rebalance_check.model.connect.status.subject import StatusModelSubject
from rebalance_check.model.registry import MUTANTS, model_for
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.laws.status import LAWS
from tests.model.connect_models import guards_touch_nothing


def status(
    *, members: int = 2, keys: int = 1, generations: int = 2, writes: int = 2, failures: int = 1, restarts: int = 0
) -> Bounds:
    return Bounds(
        protocol=RebalanceProtocol.STATUS,
        members=members,
        partitions=keys,
        generations=generations,
        crashes=restarts,
        writes=writes,
        failures=failures,
    )


@pytest.mark.parametrize(
    ("bounds", "whole", "folded"),
    [
        (status(writes=1), 1_564, 783),
        (status(writes=1, keys=2, failures=0), 484, 243),
        (status(members=1, keys=2, writes=2, failures=0, generations=1), 552, 552),
    ],
    ids=lambda value: value.address() if isinstance(value, Bounds) else str(value),
)
def test_the_number_of_states_is_pinned__interpreted(bounds: Bounds, whole: int, folded: int) -> None:
    found = [explore(MODEL, bounds, symmetry=symmetry, compiled=False) for symmetry in (False, True)]
    assert [whole, folded] == [exploration.distinct for exploration in found]
    assert all(verdict == "held" for exploration in found for verdict in exploration.verdicts.values())


def test_the_number_of_states_is_pinned__compiled__and_the_races_are_reached() -> None:
    found = {symmetry: explore(MODEL, status(restarts=1), symmetry=symmetry) for symmetry in (False, True)}
    assert found[False].distinct == 425_754
    assert found[True].distinct == 212_895
    for exploration in found.values():
        assert set(exploration.verdicts.values()) == {"held"}
        assert min(exploration.actions.values()) > 0
        unmet = {name for name, met in exploration.reachable_states.items() if not met}
        assert unmet == {"late_task_outlives_its_connector"}  # one key is a task: see the next test


def test_a_task_outlives_its_connector__one_worker_with_two_keys() -> None:
    found = explore(MODEL, status(members=1, keys=2, generations=1, failures=0), compiled=False)
    assert found.reachable_states["late_task_outlives_its_connector"]


@pytest.mark.parametrize("mutant", STATUS_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_found_by_the_claim_that_it_names(mutant: ModelMutant) -> None:
    assert MUTANTS[mutant.name] is mutant
    found = explore(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    assert found.verdicts[mutant.caught_by] == "violated"
    assert found.counterexample is not None
    assert broken_along(found.counterexample) == [""] * len(found.counterexample.actions) + [mutant.caught_by]


def broken_along(path: Path) -> list[str]:
    """What the initial state breaks, then what each step of the path does, or the state that it leads to."""
    machine = path.machine
    state = machine.initial()
    broken = [machine.violated(state)]
    for action in path.actions:
        before = machine.copy(state)
        assert machine.step(state, action)
        broken.append(machine.violated_step(before, state) or machine.violated(state))
    return broken


def test_a_guard_that_says_no_has_not_touched_the_state() -> None:
    bounds = status(members=3, keys=2, writes=4, failures=2, restarts=1)
    guards_touch_nothing(MODEL, bounds, seed=7, runs=20, steps=30)


def test_paths_of_the_model_hold_safe_status_writes() -> None:
    """The claims that judge real stores also judge the model, on the events of its random paths."""
    for seed in range(15):
        random, subject, judge = Random(seed), StatusModelSubject(), Judge(LAWS)
        events = list(subject.open(status(members=2 + seed % 2, keys=1 + seed % 3, writes=6, failures=3), seed))
        for _ in range(40):
            action = random.choice(list(subject.machine.enabled(subject.state)) or [None])
            events += subject.perform(action) if action is not None else []
        events += subject.close()
        for event in events:
            judge.observe(event)
        if not events[-1].pending:  # type: ignore[attr-defined]  # a RunEnded
            judge.judgement().check(allow_undecided=True)
        assert judge.judgement().counterexamples == ()


def test_every_reachable_state_says_which_race_it_is() -> None:
    assert all(claim.__doc__ for claim in MODEL.reachable_states)
    names = [
        claim.__name__ for claim in itertools.chain(MODEL.invariants, MODEL.step_invariants, MODEL.reachable_states)
    ]
    assert len(names) == len(set(names))
