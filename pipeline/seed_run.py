"""One seed from start to verdict: simulate, judge along the way, keep the history only when something broke."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import simulate_into
from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.judge import Judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Counterexample, Outcome, Verdict, Violated


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedResult:
    """What became of one seed.

    ``events`` counts them, ``verdicts`` has one per invariant by name, ``counterexample`` is that of the first
    violated one (safety before progress), ``pending`` is what had not settled when the run was healed.
    """

    seed: int
    options: SimulationOptions
    events: int
    verdicts: Mapping[str, Verdict]
    counterexample: Counterexample | None
    pending: tuple[str, ...]

    @property
    def violated(self) -> tuple[str, ...]:
        """The names of the broken invariants, in the order of the catalogue."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict.outcome is Outcome.VIOLATED)

    @property
    def replay(self) -> str:
        """The command that repeats exactly this run."""
        return replay_command(self.seed, self.options)


def replay_command(seed: int, options: SimulationOptions) -> str:
    """The command that simulates and judges this one seed."""
    return f"rebalance-check fuzz --seeds {seed}:{seed + 1} {options.command_line()}".rstrip()


def run_seed(
    seed: int,
    options: SimulationOptions,
    invariants: Sequence[Invariant] | None = None,
    listener: Callable[[Event], None] | None = None,
) -> SeedResult:
    """Simulate ``seed`` and judge it as it happens.

    ``invariants`` default to the whole catalogue; ``listener`` hears every event, too (to keep the history). Raises
    `RebalanceCheckError` when the options name no known mutant.
    """
    judge = Judge(invariants)
    last: deque[Event] = deque(maxlen=1)

    def observe(event: Event) -> None:
        judge.observe(event)
        last.append(event)
        if listener is not None:
            listener(event)

    simulate_into(seed, options, observe)
    judgement = judge.judgement()
    found = judgement.counterexamples
    ended = last[0]
    return SeedResult(
        seed=seed,
        options=options,
        events=judgement.events,
        verdicts={invariant.name: verdict for invariant, verdict in judgement.verdicts.items()},
        counterexample=found[0] if found else None,
        pending=ended.pending if isinstance(ended, RunEnded) else (),
    )


def breaks(seed: int, options: SimulationOptions, invariant: Invariant) -> Violated | None:
    """The verdict when the run of ``seed`` violates ``invariant``, else None."""
    verdict = run_seed(seed, options, [invariant]).verdicts[invariant.name]
    return verdict if isinstance(verdict, Violated) else None
