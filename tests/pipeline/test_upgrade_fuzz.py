"""Rolling restarts in the simulator: the legal paths hold whatever the seed, each illegal one is found and shrunk."""

import pytest

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import churn_schedule, simulate
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.upgrade_paths import PATHS, path_named
from rebalance_check.pipeline.fuzz import fuzz
from rebalance_check.pipeline.shrink import shrink
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.verdict import Outcome

LEGAL = [path.name for path in PATHS if path.legal]

FOUND = [
    # path, seeds, invariant, what the counterexample says, actions of the shrunk run at most
    ("single-upgrade", 4, "rebalance_completes", "INCONSISTENT_GROUP_PROTOCOL", 6),
    ("single-downgrade", 4, "rebalance_completes", "INCONSISTENT_GROUP_PROTOCOL", 6),
    ("wrong-order", 8, "rebalance_completes", "INCONSISTENT_GROUP_PROTOCOL", 12),
    ("impatient", 12, "rebalance_completes", "INCONSISTENT_GROUP_PROTOCOL", 16),
    ("reused-name", 12, "revoked_before_reassigned", "in the same round", 12),
]


def starts(actions: tuple[Action, ...]) -> list[tuple[int, int]]:
    return [(action.member, action.choice) for action in actions if action.kind is ActionKind.START_MEMBER]


@pytest.mark.parametrize("path", LEGAL)
def test_a_legal_path_holds__whatever_happens_to_messages_and_processes(path: str) -> None:
    result = fuzz(range(25), SimulationOptions(upgrade=path), workers=1)
    assert result.outcome is Outcome.HELD, result.failing_seeds


@pytest.mark.nightly
@pytest.mark.parametrize("path", LEGAL)
@pytest.mark.parametrize("members", [2, 3, 4])
def test_a_legal_path_holds__on_many_seeds(path: str, members: int) -> None:
    result = fuzz(range(1_000, 1_400), SimulationOptions(upgrade=path, members=members))
    assert result.outcome is Outcome.HELD, result.failing_seeds


@pytest.mark.parametrize(("path", "seeds", "invariant", "said", "most"), FOUND)
def test_an_illegal_path_is_found_and_shrunk(path: str, seeds: int, invariant: str, said: str, most: int) -> None:
    options = SimulationOptions(upgrade=path)
    result = fuzz(range(seeds), options, invariants=(invariant,), workers=1)
    assert result.outcome is Outcome.VIOLATED
    small = shrink(result.failing_seeds[0], options, select([invariant])[0])
    assert said in " ".join(reason.text for reason in small.counterexample.because)
    assert len(churn_schedule(small.seed, small.options).actions) <= most
    assert f"--upgrade {path}" in small.replay


def test_a_reused_name_gives_a_partition_two_owners__in_the_end() -> None:
    result = fuzz(
        range(11, 12), SimulationOptions(upgrade="reused-name"), invariants=("no_double_ownership",), workers=1
    )
    assert result.outcome is Outcome.VIOLATED


@pytest.mark.parametrize("path", LEGAL)
def test_every_member_goes_every_step__and_nobody_takes_the_last_before_all_took_the_one_before(path: str) -> None:
    last = len(path_named(path).lists) - 1
    for seed in range(20):
        begun = starts(churn_schedule(seed, SimulationOptions(upgrade=path)).actions)
        reached = dict.fromkeys(range(3), 0)
        for member, step in begun:
            assert reached[member] <= step <= 1 + min(reached.values())
            reached[member] = step
        assert set(reached.values()) == {last}


def test_the_operator_looks_at_the_group__between_two_rolling_restarts_of_a_legal_path() -> None:
    actions = churn_schedule(3, SimulationOptions(upgrade="legal", omit=tuple(range(100)))).actions
    assert Action(ActionKind.AWAIT_GROUP) in actions  # also when everything else is left out
    kinds = [action.kind for action in churn_schedule(3, SimulationOptions(upgrade="legal")).actions]
    assert kinds.count(ActionKind.AWAIT_GROUP) == 1
    assert ActionKind.AWAIT_GROUP not in {
        a.kind for a in churn_schedule(3, SimulationOptions(upgrade="impatient")).actions
    }


def test_what_is_left_out_never_makes_a_legal_path_illegal() -> None:
    for seed in range(10):
        whole = churn_schedule(seed, SimulationOptions(upgrade="legal")).actions
        for gone in range(0, len(whole) - 1):
            reached = dict.fromkeys(range(3), 0)
            for member, step in starts(churn_schedule(seed, SimulationOptions(upgrade="legal", omit=(gone,))).actions):
                assert step <= 1 + min(reached.values())
                reached[member] = step


def test_a_seed_makes_one_history() -> None:
    options = SimulationOptions(upgrade="legal")
    assert simulate(7, options) == simulate(7, options)


def test_the_path_is_an_option_that_is_checked() -> None:
    assert SimulationOptions(upgrade="legal").command_line() == "--upgrade legal"
    with pytest.raises(RebalanceCheckError, match="'sideways' is no upgrade path"):
        SimulationOptions(upgrade="sideways")
