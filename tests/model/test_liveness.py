"""Progress on the state graph: what holds, what each mutant breaks, and why generations hide no cycle."""

from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import pytest

pytest.importorskip("networkx", reason="the extra 'explore' is not installed")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.liveness import broken_liveness_properties, check_liveness
from rebalance_check.model.checker.liveness.components import Fairness
from rebalance_check.model.checker.liveness.evidence import along, endless, fair_actions
from rebalance_check.model.checker.liveness.graph import StateGraph
from rebalance_check.model.checker.liveness.judge import Judge
from rebalance_check.model.checker.liveness.quotient import Quotient, as_rows
from rebalance_check.model.checker.safety import Path
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.registry import MUTANTS, model_for, path_at
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def test_a_livelock_through_ever_new_generations_is_a_cycle() -> None:
    mutant = MUTANTS["heartbeat-makes-join-again"]
    found = check_liveness(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    path = found.counterexamples["rebalance_completes"]
    machine = Machine(path.model, endless(path.bounds))
    begins, ends = (along(machine, path.actions)[place] for place in (path.loop or 0, -1))
    assert ends.generation > begins.generation
    assert path.bounds.generations > mutant.bounds.generations


def test_a_lasso_is_found__where_the_initial_state_tells_members_apart() -> None:
    bounds = Bounds.from_address(
        "eager?members=2&partitions=1&generations=2&initial_delay=off&static_members=1"
    )  # one of the two is static
    found = check_liveness(model_for(bounds, "heartbeat-makes-join-again"), bounds, compiled=False)
    assert set(found.verdicts.values()) == {"violated", "held"}
    for name, path in found.counterexamples.items():
        assert name in {one.liveness_property.name for one in broken_liveness_properties(path_at(path.address()))}


class Unchecked(Judge):
    """Does without the second opinion, which knows the rules of the model as it stands only."""

    def keep(self, name: str, path: Path) -> None:
        self.findings.lassos[name] = path


@pytest.mark.parametrize(
    ("kind", "broken"),
    [(ActionKind.EXPIRE_SESSION, "rebalance_completes"), (ActionKind.SEND_HEARTBEAT, "rebalance_completes")],
)
def test_progress_rests_on_fairness__sessions_run_out_and_members_poll(kind: ActionKind, broken: str) -> None:
    rules = tuple(replace(rule, fair=rule.fair and rule.kind is not kind) for rule in MODEL.rules)
    machine = Machine(
        replace(MODEL, rules=rules), Bounds.from_address("eager?members=2&partitions=1&generations=2&initial_delay=off")
    )
    judge = Unchecked(machine, compiled=False, limits=Limits())
    assert broken in judge.run().lassos


def test_nothing_is_decided__after_a_limit_or_where_safety_breaks() -> None:
    bounds = Bounds.from_address("eager?members=2&partitions=2&generations=3")
    assert (
        "ended after 100 states" in check_liveness(MODEL, bounds, compiled=False, limits=Limits(states=100)).undecided
    )
    broken = MUTANTS["join-barrier-dropped"].bounds
    unsafe = check_liveness(model_for(broken, "join-barrier-dropped"), broken, compiled=False)
    assert "the invariant generation_has_only_joined is broken" in unsafe.undecided
    assert set(unsafe.verdicts.values()) == {"undecided"}


# ------------------------------------------------------------------------------------------------ the quotient


@pytest.mark.parametrize(
    "address",
    [
        "cooperative?partitions=2&generations=9&leaves=1&expiries=2&duplicates=2&initial_delay=off&member_id_required",
        "eager?members=2&partitions=1&generations=9&leaves=1&expiries=1&duplicates=2&deletions=1&member_id_required",
    ],
)
def test_a_folded_state_allows_the_same_fault_free_steps__to_states_that_fold_alike(address: str) -> None:
    machine = Machine(MODEL, endless(Bounds.from_address(address)))
    quotient, random = Quotient(machine), Random(address)
    for _ in range(12):
        state = machine.initial()
        for _ in range(60):
            assert fault_free_steps(machine, quotient, state) == fault_free_steps(
                machine, quotient, folded(machine, quotient, state)
            )
            possible = machine.enabled(state)
            if not possible:
                break
            machine.step(state, random.choice(possible))


def folded(machine: Machine, quotient: Quotient, state: Any) -> Any:
    """The folded form of a state."""
    return machine.unpack(quotient.fold(as_rows([machine.pack(state)], quotient.width))[0].tobytes())


def fault_free_steps(machine: Machine, quotient: Quotient, state: Any) -> set[tuple[Any, bytes]]:
    """The steps from a state that spend nothing, with the folded form of where they lead."""
    found = set()
    for action, after in machine.transitions(state):
        rows = as_rows([machine.pack(state), machine.pack(after)], quotient.width)
        if quotient.is_fault_free(rows[:1], rows[1:])[0]:
            found.add((action, quotient.fold(rows)[1].tobytes()))
    return found


def test_generations_below_the_groups_keep_their_order__and_those_above_their_distance() -> None:
    machine = Machine(
        MODEL, Bounds.from_address("eager?partitions=1&generations=9&crashes=0&deletions=1&initial_delay=off")
    )
    quotient, state = Quotient(machine), machine.initial()
    for group, members, expected in [
        (7, (3, 0, 5), (3, (1, 0, 2))),
        (7, (7, 5, 5), (2, (2, 1, 1))),
        (2, (5, 1, 0), (2, (5, 1, 0))),  # a deleted group counts up to a generation that some member remembers
        (0, (4, 0, 9), (0, (4, 0, 9))),
    ]:
        state.generation = group
        for me, generation in zip(state.member, members, strict=True):
            me.generation = generation
        made = folded(machine, quotient, state)
        assert (made.generation, tuple(me.generation for me in made.member)) == expected


# ------------------------------------------------------------------------------------------------ fairness


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 3)), max_size=9),
            st.frozensets(st.integers(0, n - 1)),
        )
    )
)
def test_a_fair_component_is_where_a_fair_run_can_stay__of_all_sets_of_states(
    drawn: tuple[int, set[tuple[int, int, int]], frozenset[int]],
) -> None:
    n, edges, outside = drawn
    steps = sorted(edges)
    graph = StateGraph(
        rows=np.zeros((n, 8), np.uint8),
        source=np.array([s for s, _, _ in steps], np.int64),
        target=np.array([t for _, t, _ in steps], np.int64),
        label=np.array([a << 24 for _, _, a in steps], np.int64),
        first=np.searchsorted([s for s, _, _ in steps], np.arange(n + 1)),
        seeds=np.zeros(1, np.int64),
    )
    fair = {0, 1, 2}
    inside = np.array([node not in outside for node in range(n)])
    found = Fairness(graph, np.array([rule in fair for rule in range(4)])).components(inside)
    stay = [s for size in range(1, n + 1) for s in combinations(range(n), size) if can_stay(set(s), steps, fair)]
    expected = {node for s in stay if not outside & set(s) for node in s}
    assert set(np.flatnonzero(found >= 0).tolist()) == expected


def can_stay(states: set[int], steps: list[tuple[int, int, int]], fair: set[int]) -> bool:
    """Whether a fair run can go round through all of these states for ever, and through no others."""
    within = [(s, t, a) for s, t, a in steps if s in states and t in states]
    reach = {s: {s} for s in states}
    for _ in states:
        for s, t, _ in within:
            for each in reach.values():
                if s in each:
                    each.add(t)
    enabled = [{a for s, _, a in steps if s == state and a in fair} for state in states]
    always = set.intersection(*enabled)
    return all(each == states for each in reach.values()) and always <= {a for _, _, a in within}


# ------------------------------------------------------------------------------------------------ lassos


def test_a_lasso_that_does_not_close_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="cannot repeat: they do not lead back"):
        broken_liveness_properties(
            path_at("v1/eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off/0.0~0")
        )


def test_a_round_that_puts_a_fair_action_off_breaks_nothing() -> None:
    machine = Machine(
        MODEL, Bounds.from_address("eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off")
    )
    actions, state = [], machine.initial()
    for _ in range(8):
        action = next(action for action in machine.enabled(state) if action.member == 0)
        machine.step(state, action)
        actions.append(action)
    assert [str(action.kind) for action in actions[-3:]] == ["SendHeartbeat", "Heartbeat", "ReceiveHeartbeat"]
    assert (ActionKind.SEND_JOIN_GROUP, 1) in fair_actions(machine, Quotient(machine), state)
    path = Path(MODEL, machine.bounds, tuple(actions), loop=5)
    assert broken_liveness_properties(path) == []


def test_a_finite_path_breaks_no_progress() -> None:
    assert (
        broken_liveness_properties(
            path_at("v1/eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off/0.0")
        )
        == []
    )
