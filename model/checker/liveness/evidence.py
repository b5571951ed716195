"""A lasso as evidence: a path of the interpreted model whose last part repeats for ever, made and judged.

`broken_liveness_properties` knows nothing about how the path was found. It steps the model along, sees that the
repeated part leads back to where it began but for spent budgets and the names of generations, that it is fault-free and
fair, and what is lacking on it. So a counterexample does not depend on the compiled backend, on the search for
components or on 64-bit fingerprints; it depends on the interpreter and on `quotient` alone. Replays of an address judge
lassos here, too.

The lower half of the file makes such a path from steps of the graph, whose states are folded and renamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.liveness.compiled_properties import Instance, held_in, instances
from rebalance_check.model.checker.liveness.quotient import Quotient, as_rows
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MOST_GENERATIONS: Final = 100
"""The number that stands for no bound on generations (`Bounds` allows no more)."""


def endless(bounds: Bounds) -> Bounds:
    """The same bounds for any number of generations."""
    return replace(bounds, generations=MOST_GENERATIONS)


def broken_liveness_properties(path: Path) -> list[Instance]:
    """The instances that a path whose end repeats for ever never brings about; empty when its run is no fair one.

    `RebalanceCheckError` when the part that repeats does not lead back to where it began.
    """
    if path.loop is None:
        return []
    machine = Machine(path.model, endless(path.bounds))
    quotient = Quotient(machine)
    states = along(machine, path.actions)[path.loop :]
    if not is_round(machine, quotient, states):
        raise RebalanceCheckError(
            f"the last {len(states) - 1} steps of {path.address()!r} cannot repeat: they do not lead back to where "
            "they began"
        )
    if not is_fair(machine, quotient, states, path.actions[path.loop :]):
        return []
    wanted = instances(machine.model, path.bounds)
    held = held_in(machine, wanted, states)
    return [one for number, one in enumerate(wanted) if is_missed(one, [row[number] for row in held])]


def is_missed(instance: Instance, held: Sequence[bool]) -> bool:
    """Whether a claim is broken by a run that goes for ever through states in which its predicate held so."""
    return not all(held) if instance.liveness_property.stabilises else not any(held)


def along(machine: Machine, actions: Iterable[Action]) -> list[Any]:
    """The states along a path, the initial one first."""
    states = [machine.initial()]
    for action in actions:
        after = machine.copy(states[-1])
        if not machine.step(after, action):
            raise AssertionError(f"{action} is not enabled at step {len(states)} of a path that was found by exploring")
        states.append(after)
    return states


def is_round(machine: Machine, quotient: Quotient, states: Sequence[Any]) -> bool:
    """Whether no step of a path spends a budget, and it ends where it began in all that matters from then on."""
    rows = as_rows([machine.pack(state) for state in states], quotient.width)
    fault_free = quotient.is_fault_free(rows[:-1], rows[1:]).all()
    folded = quotient.fold(rows.copy())
    return bool(fault_free) and folded[0].tobytes() == folded[-1].tobytes()


def is_fair(machine: Machine, quotient: Quotient, states: Sequence[Any], actions: Iterable[Action]) -> bool:
    """Whether each fair action is taken along a round trip, or disabled somewhere on it."""
    always = set.intersection(*(fair_actions(machine, quotient, state) for state in states))
    return always <= {(action.kind, action.member) for action in actions}


def fair_actions(machine: Machine, quotient: Quotient, state: Any) -> set[tuple[ActionKind, int]]:
    """The fair actions that are enabled in a state: of a fair rule, and no fault."""
    fair = {rule.kind for rule in machine.model.rules if rule.fair}
    folded = quotient.fold(as_rows([machine.pack(state)], quotient.width))
    return {
        (action.kind, action.member)
        for action, after in machine.transitions(machine.unpack(folded[0].tobytes()))
        if action.kind in fair and quotient.is_fault_free(folded, as_rows([machine.pack(after)], quotient.width))[0]
    }


# ------------------------------------------------------------------------------------------------ making one


def path_of(machine: Machine, way: Sequence[Action], rounds: Sequence[Action]) -> Path:
    """The path, with just as many generations in its bounds as it needs."""
    states = along(Machine(machine.model, endless(machine.bounds)), [*way, *rounds])
    while not all(map(machine.within_bounds, states)):
        machine = Machine(machine.model, replace(machine.bounds, generations=machine.bounds.generations + 1))
    return Path(machine.model, machine.bounds, (*way, *rounds), loop=len(way))


class Target(NamedTuple):
    """Where a step of the graph leads, as a folded state, and by which action."""

    action: Action
    row: bytes


def followed(machine: Machine, way: Sequence[Action], seed: bytes, targets: Iterable[Target]) -> list[Action]:
    """The actions that go on behind a real path as steps of the graph do behind a seed.

    The path ends in the seed but for the names of members, and perhaps no path ends in the seed itself: the initial
    state may distinguish members. So each step is found anew: the action of the same kind, and of the member that has
    the other's name, that leads to the same state, folded and renamed.
    """
    state, found = along(machine, way)[-1], list[Action]()
    perm, sets = naming(machine, state, seed)
    quotient, of_no_member = Quotient(machine), {rule.kind for rule in machine.model.rules if not rule.members}
    for target in targets:
        for action, after in machine.transitions(state):
            same = action.kind in of_no_member or perm[action.member] == target.action.member
            if action.kind is target.action.kind and same:
                row = as_rows([relabelled(machine, after, perm, sets)], quotient.width)
                if quotient.fold(row)[0].tobytes() == target.row:
                    state = machine.copy(after)
                    found.append(action)
                    break
        else:
            raise AssertionError(f"no step of the model {machine.model.name} corresponds to {target.action}")
    return found


Naming = tuple[tuple[int, ...], tuple[int, ...]]


def naming(machine: Machine, state: Any, goal: bytes) -> Naming:
    """How to rename members so that a state becomes another one."""
    for perm, sets in machine.relabellings:
        if relabelled(machine, state, perm, sets) == goal:
            return perm, sets
    raise AssertionError(f"the model {machine.model.name} is not symmetric: a path leads to no renamed form of its end")


def relabelled(machine: Machine, state: Any, perm: tuple[int, ...], sets: tuple[int, ...]) -> bytes:
    """The bytes of a state with its members renamed."""
    made = machine.new()
    machine.helpers.relabel(made, state, perm, sets)
    return machine.pack(made)
