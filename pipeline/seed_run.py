"""One seed of the simulator from start to verdict: shrinking, the search for mutants and tests repeat it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import simulate as simulator
from rebalance_check.impl.simulator.simulation import simulate_into
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.campaign import Simulate
from rebalance_check.pipeline.judging import JudgedRun, judge_run
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Violated


def run_seed(
    seed: int,
    options: SimulationOptions,
    invariants: Sequence[Invariant] | None = None,
    simulate: Simulate = simulator,
) -> JudgedRun:
    """Simulate ``seed`` and judge the observed events; ``invariants`` default to the whole catalogue.

    Raises `RebalanceCheckError` when the options name no known mutant.
    """
    return judge_run(seed, simulate(seed, options), invariants)


def breaks(
    seed: int, options: SimulationOptions, invariant: Invariant, simulate: Simulate = simulator
) -> Violated | None:
    """The verdict when the run of ``seed`` violates ``invariant``, else None.

    Raises `RebalanceCheckError` when the options name no known mutant.
    """
    if simulate is simulator:
        return _breaks_soon(seed, options, invariant)
    verdict = run_seed(seed, options, [invariant], simulate).verdicts[invariant.name]
    return verdict if isinstance(verdict, Violated) else None


class _Broken(BaseException):
    """The claim broke, so the rest of the run does not matter. No member may take it for an error of its own."""


def _breaks_soon(seed: int, options: SimulationOptions, invariant: Invariant) -> Violated | None:
    """As `breaks`, without the rest of a run whose claim broke."""
    judge = Judge([invariant])

    def listen(event: Event) -> None:
        judge.observe(event)
        if judge.found:
            raise _Broken

    with suppress(_Broken):
        simulate_into(seed, options, listen)
    verdict = judge.judgement().verdict(invariant.name)
    return verdict if isinstance(verdict, Violated) else None


def replay_command(seed: int, options: SimulationOptions) -> str:
    """The command that simulates and judges this one seed."""
    return f"rebalance-check fuzz --seeds {seed}:{seed + 1} {options.command_line()}".rstrip()
