"""Every mutant of a model is caught by the claim it names, along a path that replays; the healthy model breaks nothing.

A claim without a mutant could be one that cannot fail.
"""

from collections.abc import Sequence
from random import Random

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.safety import Path, explore
from rebalance_check.model.checker.specification import Edit, Model, mutated
from rebalance_check.model.classic.model import MODEL as CLASSIC
from rebalance_check.model.connect.config.model import MODEL as CONFIG
from rebalance_check.model.connect.exactly_once.model import MODEL as EXACTLY_ONCE
from rebalance_check.model.connect.status.model import MODEL as STATUS
from rebalance_check.model.connect.workers.model import MODEL as WORKERS
from rebalance_check.model.registry import MODELS, MUTANTS, model_for, path_at
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds

SILENT = "silent-static-member-is-removed"
DEEP = {"older-ownership-wins", "double-ownership-is-honoured", SILENT}
"""In bounds too large to interpret often: see test_compiled_shapes, and test_assignment for what they break."""

SAFETY = [mutant for mutant in MUTANTS.values() if not mutant.liveness and mutant.name not in DEEP]
LIVENESS = [mutant for mutant in MUTANTS.values() if mutant.liveness]


def mutants_in(package: str) -> list[ModelMutant]:
    """The mutants of the model in this package of ``rebalance_check.model``."""
    return [one for one in MUTANTS.values() if one.edit.module.startswith(f"rebalance_check.model.{package}.")]


def broken_at_the_end(path: Path) -> str:
    """The claim that the last step of a path breaks; nothing breaks before."""
    machine = path.machine
    state, broken = machine.initial(), ""
    for action in path.actions:
        assert not broken
        before = machine.copy(state)
        assert machine.step(state, action)
        broken = machine.violated_step(before, state) or machine.violated(state)
    return broken


@pytest.mark.parametrize("mutant", SAFETY, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_by_the_claim_it_names__and_the_healthy_model_breaks_nothing(mutant: ModelMutant) -> None:
    found = explore(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    assert found.violated == mutant.caught_by
    assert found.counterexample is not None
    assert broken_at_the_end(found.counterexample) == mutant.caught_by
    assert path_at(found.counterexample.address()) == found.counterexample
    healthy = explore(model_for(mutant.bounds), mutant.bounds, compiled=False)
    assert set(healthy.verdicts.values()) == {"held"}


def test_a_join_phase_that_drops_silent_static_members_is_caught() -> None:
    mutant = MUTANTS[SILENT]
    found = explore(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    assert found.violated == mutant.caught_by


@pytest.mark.parametrize("mutant", LIVENESS, ids=lambda mutant: mutant.name)
def test_a_mutant_breaks_the_liveness_it_names_and_no_safety__and_the_healthy_model_neither(
    mutant: ModelMutant,
) -> None:
    liveness = pytest.importorskip("rebalance_check.model.checker.liveness")
    model = model_for(mutant.bounds, mutant.name)
    assert set(explore(model, mutant.bounds, compiled=False).verdicts.values()) == {"held"}
    found = liveness.check_liveness(model, mutant.bounds, compiled=False)
    assert found.verdicts[mutant.caught_by] == "violated"
    path = found.counterexamples[mutant.caught_by]
    assert path_at(path.address()) == path
    assert mutant.caught_by in {one.liveness_property.name for one in liveness.broken_liveness_properties(path)}
    assert len(path.actions) <= 28
    healthy = liveness.check_liveness(model_for(mutant.bounds), mutant.bounds, compiled=False)
    assert set(healthy.verdicts.values()) == {"held"}


PACKAGES = {"connect.workers": WORKERS, "connect.config": CONFIG, "connect.exactly_once": EXACTLY_ONCE}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_claim_has_a_mutant_that_breaks_it(package: str) -> None:
    model, mutants = PACKAGES[package], mutants_in(package)
    claims = {claim.__name__ for claim in (*model.invariants, *model.step_invariants)}
    assert claims == {mutant.caught_by for mutant in mutants if not mutant.liveness}
    assert {claim.name for claim in model.liveness} == {mutant.caught_by for mutant in mutants if mutant.liveness}


def test_every_claim_of_progress_of_a_group_has_a_mutant_that_breaks_it() -> None:
    assert {claim.name for claim in CLASSIC.liveness} == {
        one.caught_by for one in mutants_in("classic") if one.liveness
    }


def test_a_shortest_path_is_found__with_and_without_symmetry() -> None:
    mutant, lengths = MUTANTS["leader-does-not-withhold"], set[int]()
    for symmetry in (True, False):
        found = explore(model_for(mutant.bounds, mutant.name), mutant.bounds, symmetry=symmetry, compiled=False)
        lengths.add(len(found.counterexample.actions) if found.counterexample else 0)
    assert lengths == {17}


def test_each_mutant_is_explained() -> None:
    assert all(mutant.what for mutant in MUTANTS.values())


GUARDED: Sequence[tuple[Model, str, int, int]] = [
    # bounds that allow every step, and how many runs of how many steps are enough
    (WORKERS, "connect-eager?members=3&partitions=3&generations=20&leaves=1&expiries=1&losses=1&rolling_restarts=2"
     "&modes=impatient-eager-to-sessioned", 30, 80),
    (CONFIG, "connect-config?members=3&partitions=2&writes=8&crashes=1&expiries=1&compactions=2", 40, 60),
    (EXACTLY_ONCE, "connect-exactly-once?members=3&partitions=2&writes=8&expiries=4", 40, 60),
    (STATUS, "status?members=3&partitions=2&generations=2&writes=4&failures=2", 20, 30),
]  # fmt: skip


@pytest.mark.parametrize(("model", "address", "runs", "steps"), GUARDED, ids=[model.name for model, *_ in GUARDED])
def test_a_guard_that_says_no_has_not_touched_the_state(model: Model, address: str, runs: int, steps: int) -> None:
    bounds = Bounds.from_address(address)
    machine, random, refused = Machine(model, bounds), Random(7), set[ActionKind]()
    for _ in range(runs):
        state = machine.initial()
        for _ in range(steps):
            before = machine.pack(state)
            kind = random.choice(model.rules).kind
            action = Action(kind, random.randrange(bounds.members), random.randrange(bounds.partitions))
            if not machine.step(state, action):
                refused.add(kind)
                assert before == machine.pack(state), action
    assert refused == {rule.kind for rule in model.rules}


# ------------------------------------------------------------------------------------------------ what Kafka breaks


def test_the_worker_that_starts_after_the_compaction_has_lost_the_tasks() -> None:
    """The order that KAFKA-17719 describes: task configs and commit lie before the connector that they belong to."""
    bounds = Bounds.from_address("connect-config?members=2&partitions=1&crashes=0&writes=4")
    path = explore(CONFIG, bounds, compiled=False).counterexample
    assert path is not None
    kinds = [action.kind for action in path.actions]
    cleaned = kinds.index(ActionKind.COMPACT_TOPIC)
    assert kinds[:cleaned].count(ActionKind.WRITE_CONNECTOR) == 3
    assert {action.member for action in path.actions[cleaned + 1 : -1]} == {1}
    last = path.run().states[-1]
    late, early = last.workers[1], last.workers[0]
    assert (late.connector, late.count, late.committed[0], late.inconsistent) == (early.connector, 0, 0, 0)
    assert early.count == 1


MENDED = Edit(
    "rebalance_check.model.connect.workers.incremental",
    "    deleted = memory.previous & ~configured",
    "    deleted = (memory.previous | active) & ~configured",
)


def test_deleted_work_runs_on__because_the_assignor_looks_for_it_in_its_memory_alone() -> None:
    """A CONFIG_MISMATCH round clears the memory; what was deleted meanwhile stays claimed until some later round."""
    check_liveness = pytest.importorskip("rebalance_check.model.checker.liveness").check_liveness
    bounds = Bounds.from_address("connect-incremental?members=2&partitions=2&generations=3&crashes=0")
    found = check_liveness(WORKERS, bounds, compiled=False)
    violated = {name for name, verdict in found.verdicts.items() if verdict == "violated"}
    assert violated == {"deleted_work_ends"}
    mended = mutated(WORKERS, "deleted-includes-claims", MENDED)
    assert set(explore(mended, bounds, compiled=False).verdicts.values()) == {"held"}
    assert set(check_liveness(mended, bounds, compiled=False).verdicts.values()) == {"held"}


def test_all_models_have_mutants() -> None:
    edited = {model.name for model in MODELS.values() if any(one.edit.module in model.modules for one in SAFETY)}
    assert edited == {model.name for model in MODELS.values()}
