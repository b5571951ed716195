"""Groups of Connect workers in the model: pinned counts, what holds, what is known to break, and mutants."""

import pytest

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.specification import Edit, mutated
from rebalance_check.model.connect.workers.model import MODEL
from rebalance_check.model.connect.workers.mutants import WORKER_LIVENESS_MUTANTS, WORKER_MUTANTS
from rebalance_check.model.registry import model_for, path_at
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.worker_modes import MODE_PATHS, mode_path_number
from tests.model.connect_models import (
    caught,
    every_claim_has_a_mutant,
    exhausted,
    guards_touch_nothing,
    held,
    reach_everything,
    shortest,
)

HOLDS = [
    # bounds, distinct, generated, depth
    ("connect-eager?members=2&partitions=3&generations=3&crashes=0", 3_755, 6_795, 26),
    ("connect-eager?members=2&partitions=2&generations=4&config_changes=0&losses=1", 1_972, 3_894, 24),
    ("connect-eager?members=2&partitions=2&generations=4&crashes=0&expiries=1&config_changes=0", 772, 1_444, 21),
    ("connect-incremental?members=2&partitions=2&generations=4&crashes=0", 12_310, 22_345, 33),
    ("connect-incremental?members=2&partitions=3&generations=5&config_changes=0", 2_904, 5_449, 34),
    ("connect-incremental?members=2&partitions=2&generations=5&crashes=2&config_changes=0", 14_282, 33_110, 37),
    ("connect-incremental?members=2&partitions=2&generations=5&config_changes=0&rebalance_delay=off", 1_241, 2_219, 32),
    ("connect-incremental?members=2&partitions=3&generations=6&crashes=0&losses=1&config_changes=0", 471, 732, 27),
    (
        "connect-incremental?members=2&partitions=2&generations=5&crashes=0&expiries=1&config_changes=0",
        5_943,
        10_616,
        33,
    ),
    ("connect-incremental?members=3&partitions=2&generations=4&crashes=0&config_changes=0", 1_279, 2_962, 33),
]
"""Groups in which every claim holds; a change here is a change of the protocol, to be explained in the commit."""

LEGAL = [
    ("connect-eager?members=2&partitions=2&generations=8&crashes=0&rolling_restarts=2&config_changes=0&modes=eager-to-sessioned", 782, 1_367, 41),
    ("connect-eager?members=2&partitions=1&generations=12&crashes=0&rolling_restarts=4&config_changes=0&modes=eager-to-compatible-to-sessioned", 5_371, 10_042, 60),
    ("connect-incremental?members=2&partitions=2&generations=8&crashes=0&rolling_restarts=2&config_changes=0&modes=sessioned-to-compatible", 4_916, 9_629, 52),
]  # fmt: skip
"""Paths of worker modes on which nothing runs twice; two rolling restarts do no more than one."""

ILLEGAL = [
    # bounds, steps of the shortest counterexample
    ("connect-incremental?members=2&partitions=2&generations=6&crashes=0&rolling_restarts=2&config_changes=0&modes=sessioned-to-eager", 15),
    ("connect-incremental?members=2&partitions=2&generations=6&crashes=0&rolling_restarts=4&config_changes=0&modes=sessioned-to-compatible-to-eager", 22),
    ("connect-eager?members=2&partitions=2&generations=6&crashes=0&rolling_restarts=2&config_changes=0&modes=impatient-eager-to-sessioned", 14),
]  # fmt: skip
"""An eager worker joins a cooperative group (KAFKA-13816)."""


@pytest.mark.parametrize(("address", "distinct", "generated", "depth"), HOLDS)
def test_a_group_of_workers_is_exhausted__and_every_claim_holds(
    address: str, distinct: int, generated: int, depth: int
) -> None:
    exhausted(MODEL, address, distinct, generated, depth)


@pytest.mark.parametrize(("address", "distinct", "generated", "depth"), LEGAL)
def test_a_legal_path_of_modes_holds__at_every_step_and_interleaving(
    address: str, distinct: int, generated: int, depth: int
) -> None:
    found = exhausted(MODEL, address, distinct, generated, depth)
    assert found.reachable_states["mode_path_is_complete"]
    assert found.reachable_states["two_modes_in_one_group"]


@pytest.mark.parametrize(("address", "steps"), ILLEGAL)
def test_an_eager_worker_in_a_cooperative_group_makes_work_run_twice(address: str, steps: int) -> None:
    shortest(MODEL, address, "work_runs_once", steps)


def test_every_path_of_modes_is_explored() -> None:
    addresses = [*(address for address, *_ in LEGAL), *(address for address, _ in ILLEGAL)]
    named = {Bounds.from_address(address).modes for address in addresses}
    assert named == set(range(1, len(MODE_PATHS) + 1))
    legal = {MODE_PATHS[Bounds.from_address(address).modes - 1] for address, *_ in LEGAL}
    assert legal == {path for path in MODE_PATHS if path.legal}
    with pytest.raises(RebalanceCheckError, match="'up' is no path of worker modes"):
        mode_path_number("up")


def test_what_a_group_of_workers_must_reach_is_reached() -> None:
    """Each in the smallest bounds in which it happens."""
    places = {
        "connect-incremental?members=2&partitions=2&generations=4&crashes=0": {
            "all_work_runs", "configs_mismatch", "worker_is_ahead_of_its_assignment", "claimed_is_not_running",
            "deleted_work_runs_on",
        },
        "connect-incremental?members=2&partitions=2&generations=4&crashes=2&config_changes=0": {
            "lost_work_has_no_owner", "new_leader_drops_the_delay", "returning_worker_ends_the_delay",
            "candidates_get_lost_work",
        },
        "connect-incremental?members=2&partitions=2&generations=5&crashes=0&expiries=1&config_changes=0": {
            "removed_worker_works_on", "two_workers_claim_one_item",
        },
        "connect-incremental?members=3&partitions=2&generations=4&crashes=0&config_changes=0": {
            "successive_revocations_are_delayed",
        },
        LEGAL[0][0]: {"two_modes_in_one_group", "mode_path_is_complete"},
    }  # fmt: skip
    reach_everything(MODEL, places)


# ------------------------------------------------------------------------------------------------ mutants

SAFETY_MUTANTS = [mutant for mutant in WORKER_MUTANTS if not mutant.liveness]


@pytest.mark.parametrize("mutant", SAFETY_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_by_the_claim_it_names__and_the_healthy_model_breaks_nothing(mutant: ModelMutant) -> None:
    caught(MODEL, mutant)


def test_every_claim_has_a_mutant_that_breaks_it() -> None:
    every_claim_has_a_mutant(MODEL, WORKER_MUTANTS)


def test_a_guard_that_says_no_has_not_touched_the_state() -> None:
    bounds = Bounds.from_address(
        "connect-eager?members=3&partitions=3&generations=20&leaves=1&expiries=1&losses=1&rolling_restarts=2"
        "&modes=impatient-eager-to-sessioned"
    )
    guards_touch_nothing(MODEL, bounds, seed=7, runs=30, steps=80)


# ------------------------------------------------------------------------------------------------ liveness


LIVE = [
    # bounds, states explored, states and steps of the fault-free graph, fair components
    ("connect-eager?members=2&partitions=2&generations=3&crashes=0", 2_451, 2_500, 4_640, 12),
    ("connect-eager?members=2&partitions=2&generations=3&config_changes=0&expiries=1", 4_008, 1_835, 3_561, 6),
    ("connect-incremental?members=2&partitions=2&generations=4&config_changes=0", 2_390, 1_679, 3_200, 6),
    (
        "connect-incremental?members=2&partitions=2&generations=4&crashes=0&expiries=1&config_changes=0",
        5_146,
        3_486,
        6_160,
        16,
    ),
    ("connect-incremental?members=2&partitions=2&generations=4&crashes=0&losses=1&config_changes=0", 407, 252, 367, 4),
    (LEGAL[0][0], 782, 407, 623, 18),
]


@pytest.mark.parametrize(("address", "reached", "states", "steps", "components"), LIVE)
def test_everything_configured_is_run_by_exactly_one_in_the_end(
    address: str, reached: int, states: int, steps: int, components: int
) -> None:
    check_liveness = pytest.importorskip("rebalance_check.model.checker.liveness").check_liveness
    found = check_liveness(MODEL, Bounds.from_address(address), compiled=False)
    assert found.undecided == ""
    assert set(found.verdicts.values()) == {"held"}
    assert (found.reached, found.states, found.steps, found.components) == (reached, states, steps, components)


@pytest.mark.parametrize("mutant", WORKER_LIVENESS_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_breaks_the_liveness_it_names__and_no_safety(mutant: ModelMutant) -> None:
    check_liveness = pytest.importorskip("rebalance_check.model.checker.liveness").check_liveness
    model = model_for(mutant.bounds, mutant.name)
    assert set(explore(model, mutant.bounds, compiled=False).verdicts.values()) == {"held"}
    found = check_liveness(model, mutant.bounds, compiled=False)
    assert found.verdicts[mutant.caught_by] == "violated"
    path = found.counterexamples[mutant.caught_by]
    assert path_at(path.address()) == path


DELETED = "connect-incremental?members=2&partitions=2&generations=3&crashes=0"
MENDED = Edit(
    "rebalance_check.model.connect.workers.incremental",
    "    deleted = memory.previous & ~configured",
    "    deleted = (memory.previous | active) & ~configured",
)


def test_deleted_work_runs_on__because_the_assignor_looks_for_it_in_its_memory_alone() -> None:
    """A CONFIG_MISMATCH round clears the memory; what was deleted meanwhile stays claimed until some later round."""
    check_liveness = pytest.importorskip("rebalance_check.model.checker.liveness").check_liveness
    bounds = Bounds.from_address(DELETED)
    found = check_liveness(MODEL, bounds, compiled=False)
    violated = {name for name, verdict in found.verdicts.items() if verdict == "violated"}
    assert violated == {"deleted_work_ends"}
    mended = mutated(MODEL, "deleted-includes-claims", MENDED)
    assert set(explore(mended, bounds, compiled=False).verdicts.values()) == {"held"}
    assert set(check_liveness(mended, bounds, compiled=False).verdicts.values()) == {"held"}


# ------------------------------------------------------------------------------------------------ compiled


@pytest.mark.parametrize("place", [0, *(pytest.param(place, marks=pytest.mark.nightly) for place in (3, 10))])
def test_the_compiled_model_is_the_interpreted_one(place: int) -> None:
    """Eager in seconds; the whole of a path of modes, where the compiler has nothing to leave out, at night."""
    exhausted(MODEL, *[*HOLDS, *LEGAL][place], compiled=True)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("address", "distinct"),
    [
        ("connect-eager?members=3&partitions=3&generations=4&config_changes=0", 11_234),
        ("connect-incremental?members=3&partitions=3&generations=5&config_changes=0", 173_283),
        ("connect-incremental?members=3&partitions=2&generations=5&leaves=1&config_changes=0", 358_274),
        ("connect-incremental?members=2&partitions=2&generations=5", 156_098),
    ],
)
def test_larger_groups_hold(address: str, distinct: int) -> None:
    assert held(MODEL, address, compiled=True).distinct == distinct
