"""``explore``: chooses the backend, runs it, and turns its findings into an `Exploration`.

Imports of the compiled backend stand inside of functions, because llvmlite and NumPy are an extra: interpreting a
model, replaying a path and reading a report must work without them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path as FolderPath
from typing import TYPE_CHECKING

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.limits import (
    NO_LIMITS,
    Ended,
    Limits,
    SearchListener,
    collision_probability,
    peak_resident_bytes,
    resident_bytes,
)
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.safety.result import Exploration
from rebalance_check.model.checker.safety.search import Outcome, Search
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

if TYPE_CHECKING:
    from rebalance_check.model.checker.safety.workers import ParallelSearch

MOST_THREADS = 64
"""Threads share one process and its memory; more than this is a mistyped number."""


def explore(
    model: Model,
    bounds: Bounds,
    *,
    symmetry: bool = True,
    threads: int = 2,
    compiled: bool = True,
    progress: SearchListener | None = None,
    limits: Limits = NO_LIMITS,
    spill: FolderPath | None = None,
) -> Exploration:
    """Explore every state of a model within ``bounds`` and check its invariants on each.

    `model.registry.model_for` has the model of a protocol, and its mutants. ``symmetry`` explores one of all states
    that differ only in how members are named. ``threads`` counts the threads of the compiled backend;
    ``compiled=False`` interprets. ``progress`` receives what the search does. ``limits`` end it early; it is then not
    ``complete``, and neither where memory runs out. With the folder ``spill`` a compiled search keeps in files below
    it what memory is not enough for, instead of ending; the system removes them with the process.

    Raises `RebalanceCheckError` when llvmlite is not installed, for a number of threads out of range, for a limit of
    memory below what the process has before it begins, and for ``spill`` without ``compiled``; `OSError` where the
    folder cannot be written to.
    """
    if spill is not None and not compiled:
        raise RebalanceCheckError("only the compiled explorer keeps states on disk: leave out spill, or interpreted")
    if not 1 <= threads <= MOST_THREADS:
        raise RebalanceCheckError(f"threads is {threads}: choose a number from 1 to {MOST_THREADS}")
    machine = Machine(model, bounds)
    started = time.perf_counter()
    search: Search | ParallelSearch | None
    if compiled:
        search = compiled_search(machine, spill, symmetry=symmetry, threads=threads, limits=limits, progress=progress)
    else:
        search = Search(machine, symmetry=symmetry, limits=limits, progress=progress)
    compile_seconds = time.perf_counter() - started if compiled else 0.0
    outcome = Outcome(distinct=0, generated=0, ended=Ended.STOPPED)
    if search is not None:
        require_memory(limits)
        outcome = search.run()
    return exploration_of(
        machine, outcome, symmetry=symmetry, threads=threads if compiled else 1, compiled=compiled,
        compile_seconds=compile_seconds,
    )  # fmt: skip


def exploration_of(
    machine: Machine, outcome: Outcome, *, symmetry: bool, threads: int, compile_seconds: float, compiled: bool = True
) -> Exploration:
    """The findings of a machine's search, as an `Exploration`; the other arguments are fields of it."""
    model = machine.model
    path = concrete(machine, outcome.path, outcome.violated) if symmetry else outcome.path
    return Exploration(
        bounds=machine.bounds,
        symmetry=symmetry,
        threads=threads,
        compiled=compiled,
        mutant=model.mutant,
        distinct=outcome.distinct,
        generated=outcome.generated,
        cut=outcome.cut,
        depth=outcome.depth,
        frontier=outcome.frontier,
        seconds=outcome.seconds,
        compile_seconds=compile_seconds,
        peak_bytes=peak_resident_bytes(),
        disk_bytes=outcome.disk_bytes,
        ended=outcome.ended,
        complete=outcome.complete,
        collision_probability=collision_probability(outcome.distinct) if compiled else 0.0,
        verdicts=verdicts(model, outcome),
        reachable_states={
            claim.__name__: claim.__name__ in outcome.met for claim in (*model.reachable_states, *model.reachable_steps)
        },
        actions={rule.kind: outcome.fired[rule.kind] for rule in model.rules},
        counterexample=Path(model, machine.bounds, tuple(path)) if outcome.violated else None,
    )


def compiled_search(
    machine: Machine, spill: FolderPath | None, *, symmetry: bool, threads: int, limits: Limits,
    progress: SearchListener | None,
) -> ParallelSearch | None:  # fmt: skip
    """The compiled model ready to be searched; None when it was interrupted while it compiled.

    Raises `RebalanceCheckError` when llvmlite is not installed.
    """
    try:
        from rebalance_check.model.checker.safety.compilation import compile_apart  # noqa: PLC0415 - needs an extra
        from rebalance_check.model.checker.safety.workers import ParallelSearch  # noqa: PLC0415 - needs an extra
    except ImportError as error:
        raise RebalanceCheckError(
            f"the compiled explorer needs {error.name}, which is not installed: run "
            "pip install 'rebalance-check[explore]', or explore with compiled=False"
        ) from error
    program = compile_apart(machine.model, machine.bounds, progress, limits.stop)
    if program is None:
        return None
    return ParallelSearch(
        program, machine, symmetry=symmetry, threads=threads, limits=limits, progress=progress, spill=spill
    )


def require_memory(limits: Limits) -> None:
    """Check that a limit of memory allows a search to begin.

    Raises: RebalanceCheckError
    """
    if limits.is_memory_used():
        raise RebalanceCheckError(
            f"the limit of memory is {(limits.memory or 0) / 2**20:,.0f} MiB, and this process has "
            f"{resident_bytes() / 2**20:,.0f} MiB before the search begins: allow more"
        )


def verdicts(model: Model, outcome: Outcome) -> dict[str, str]:
    """The search's verdict on each claim; a search that stopped early decides only those that it saw violated."""
    unseen = "held" if outcome.complete else "undecided"
    names = [claim.__name__ for claim in (*model.invariants, *model.step_invariants)]
    return {name: "violated" if name == outcome.violated else unseen for name in names}


def concrete(machine: Machine, labels: Iterable[Action], violated: str) -> list[Action]:
    """A real path for one found under symmetry, whose actions belong to representatives of the states.

    Each label was recorded in a canonical state, where members may have other names than on the way there. The two runs
    go side by side: ``stand_in`` follows the labels, made canonical after each; ``real`` takes any action that leads to
    a state with the same canonical form. There is one, because renaming members maps runs to runs.
    """
    real, stand_in, path = machine.initial(), machine.unpack(machine.canonical(machine.initial())), []
    for label in labels:
        machine.step(stand_in, label)
        goal = machine.canonical(stand_in)
        path.append(step_towards(machine, real, goal, violated))
        machine.step(real, path[-1])
        stand_in = machine.unpack(goal)
    return path


def step_towards(machine: Machine, real: object, goal: bytes, violated: str) -> Action:
    """The action that leads from ``real`` to a state like ``goal``, which is a canonical packed state.

    Where several do, one that breaks the step invariant ``violated`` (or is the reachable step of that name) comes
    first, because two actions may lead to one state and only one of them be the violation; then the first in order.
    """
    found = [
        (
            machine.violated_step(real, after) != violated and violated not in machine.happened(real, after),
            number,
            action,
        )
        for number, (action, after) in enumerate(machine.successors(real))
        if machine.canonical(after) == goal
    ]
    if not found:
        raise AssertionError(
            f"the model {machine.model.name} is not symmetric: its invariants or actions distinguish members"
        )
    return min(found)[2]
