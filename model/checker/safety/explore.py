"""``explore``: chooses the backend, runs it, and turns what it found into an `Exploration`.

Imports of the compiled backend stand inside of functions, because Numba and NumPy are an extra: interpreting a model,
replaying a path and reading a report must work without them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.safety.result import Exploration
from rebalance_check.model.checker.safety.search import Limits, Outcome, Search
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener

MOST_THREADS = 64
"""Threads share one process and its memory; more than this is a mistyped number."""


def explore(
    model: Model,
    bounds: Bounds,
    *,
    symmetry: bool = True,
    threads: int = 2,
    compiled: bool = True,
    progress: ProgressListener | None = None,
    max_states: int | None = None,
    stop_after: float | None = None,
) -> Exploration:
    """Explore every state of a model within ``bounds`` and check its invariants on each.

    `model.registry.model_for` has the model of a protocol, and its mutants. ``symmetry`` explores one of all states
    that differ only in how members are named. ``threads`` counts the threads of the compiled backend;
    ``compiled=False`` interprets. ``progress`` is called after each level. ``max_states`` and ``stop_after`` (seconds)
    end the search early; it is then not ``complete``.

    Raises `RebalanceCheckError` when Numba is not installed, or for a number of threads out of range.
    """
    if not 1 <= threads <= MOST_THREADS:
        raise RebalanceCheckError(f"threads is {threads}: choose a number from 1 to {MOST_THREADS}")
    machine = Machine(model, bounds)
    limits = Limits(states=max_states, seconds=stop_after)
    started = time.perf_counter()
    if compiled:
        outcome = run_compiled(machine, symmetry=symmetry, threads=threads, limits=limits, progress=progress)
    else:
        outcome = Search(machine, symmetry=symmetry, limits=limits, progress=progress).run()
    path = concrete(machine, outcome.path, outcome.violated) if symmetry else outcome.path
    return Exploration(
        bounds=bounds,
        symmetry=symmetry,
        threads=threads if compiled else 1,
        compiled=compiled,
        mutant=model.mutant,
        distinct=outcome.distinct,
        generated=outcome.generated,
        cut=outcome.cut,
        depth=outcome.depth,
        seconds=outcome.seconds,
        compile_seconds=time.perf_counter() - started - outcome.seconds if compiled else 0.0,
        peak_bytes=peak_resident_bytes(),
        complete=outcome.complete,
        verdicts=verdicts(model, outcome),
        reachable_states={
            claim.__name__: claim.__name__ in outcome.met for claim in (*model.reachable_states, *model.reachable_steps)
        },
        actions={rule.kind: outcome.fired[rule.kind] for rule in model.rules},
        counterexample=Path(model, bounds, tuple(path)) if outcome.violated else None,
    )


def run_compiled(
    machine: Machine, *, symmetry: bool, threads: int, limits: Limits, progress: ProgressListener | None
) -> Outcome:
    """Search with the compiled model; `Outcome.seconds` leaves compilation out, which `warm_up` does beforehand.

    Raises `RebalanceCheckError` when Numba is not installed.
    """
    from rebalance_check.model.checker.safety.compiled import compile_model  # noqa: PLC0415  # needs an extra

    program = compile_model(machine.model, machine.bounds)
    from rebalance_check.model.checker.safety.workers import ParallelSearch  # noqa: PLC0415  # needs an extra

    search = ParallelSearch(program, machine, symmetry=symmetry, threads=threads, limits=limits, progress=progress)
    search.warm_up()
    return search.run()


def verdicts(model: Model, outcome: Outcome) -> dict[str, str]:
    """What the search says about each claim; a search that stopped early decides only what it saw violated."""
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


def peak_resident_bytes() -> int:
    """The peak resident memory of this process; 0 where the platform does not say."""
    try:
        import resource  # noqa: PLC0415  # not on every platform
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
