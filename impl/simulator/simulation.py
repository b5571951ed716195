"""`simulate`: one seed in, one history out, by Python or, where it was compiled, by the compiled simulator.

That is a copy made of the same source, and gives the same history. Mutants are edits of Python functions, so where one
is planted Python runs; it does, too, where another cluster, which is Python, stands under the group.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias, cast

from rebalance_check.impl.mutants.planting import is_planted
from rebalance_check.impl.runtime.choices import Choices
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator.cluster import OtherCluster
from rebalance_check.impl.simulator.environment import Listener
from rebalance_check.impl.simulator.subject import run_churn
from rebalance_check.model.vocabulary.events import Event

RunChurn: TypeAlias = Callable[[int, SimulationOptions, Listener, OtherCluster | None, Choices | None], None]

COMPILED: Final = "rebalance_check.impl.compiled"
"""The package that setup.py adds when it is asked to compile."""


@cache
def compiled_run() -> RunChurn | None:
    """`run_churn` of the compiled simulator; None in an install without one."""
    try:
        from rebalance_check.impl.compiled.simulator.subject import (  # type: ignore[import-not-found]  # noqa: PLC0415
            run_churn as compiled,
        )
    except ModuleNotFoundError as missing:
        if missing.name != COMPILED:
            raise
        return None
    return cast("RunChurn", compiled)


def simulate_into(
    seed: int,
    options: SimulationOptions,
    listener: Listener,
    other: OtherCluster | None = None,
    *,
    choices: Choices | None = None,
) -> None:
    """Run the simulation of ``seed`` and hand each event to ``listener`` as it is observed; ``choices`` note its own.

    A pure function of ``seed`` and ``options``: the events are the same on every machine, under every PYTHONHASHSEED,
    and whatever ran before. ``other`` is the cluster under a group where that is not ours.

    Raises `RebalanceCheckError` when the mutant is unknown.
    """
    needs_python = options.mutant or other is not None or is_planted()
    run = run_churn if needs_python else compiled_run() or run_churn
    run(seed, options, listener, other, choices)


def simulate(seed: int, options: SimulationOptions) -> list[Event]:
    """The history of ``seed`` under ``options``; see `simulate_into`."""
    history: list[Event] = []
    simulate_into(seed, options, history.append)
    return history
