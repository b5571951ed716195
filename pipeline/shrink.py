"""Shrinking a failing run: the same seed with fewer faults, fewer members, fewer churn actions, and the same verdict.

The result is again a seed and options, so it replays from one command like any other run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import churn_schedule, drawn_protocol
from rebalance_check.impl.simulator import simulate as simulator
from rebalance_check.model.shrink import ddmin
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.campaign import Simulate
from rebalance_check.pipeline.seed_run import breaks, replay_command
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Counterexample


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A failing run made small.

    ``history`` ends with the event at which the claim broke (or with the end of the run, for a claim about the end);
    ``counterexample`` explains it, ``runs`` counts the simulations that shrinking took.
    """

    seed: int
    options: SimulationOptions
    counterexample: Counterexample
    history: tuple[Event, ...]
    runs: int

    @property
    def replay(self) -> str:
        """The command that repeats the small run."""
        return replay_command(self.seed, self.options)


class _Search:
    """Keeps the smallest options that still fail, and counts what looking for them costs."""

    def __init__(
        self, seed: int, options: SimulationOptions, invariant: Invariant, *, limit: int, simulate: Simulate
    ) -> None:
        self.seed = seed
        self.simulate = simulate
        self.options = options
        self.runs = 0
        self._invariant = invariant
        self._limit = limit
        first = breaks(seed, options, invariant, simulate)
        if first is None:
            raise RebalanceCheckError(
                f"seed {seed} does not violate {invariant.name}, so there is nothing to shrink: check the options, "
                f"or run '{replay_command(seed, options)}' to see what it does"
            )
        self.counterexample = first.counterexample

    @property
    def runs_left(self) -> int:
        """How many more simulations the search may make."""
        return self._limit - self.runs

    def accept(self, options: SimulationOptions) -> bool:
        """Whether the run with ``options`` fails in the same way; if so it is the best so far."""
        if not self.runs_left:
            return False
        self.runs += 1
        verdict = breaks(self.seed, options, self._invariant, self.simulate)
        if verdict is not None:
            self.options, self.counterexample = options, verdict.counterexample
        return verdict is not None


def shrink(
    seed: int,
    options: SimulationOptions,
    invariant: Invariant,
    *,
    limit: int = 200,
    simulate: Simulate = simulator,
) -> Shrunk:
    """The smallest run near ``seed`` that violates ``invariant``, found with at most ``limit`` simulations.

    ``simulate`` puts another subject in the simulator's place.

    Raises `RebalanceCheckError` when the run does not violate it to begin with.
    """
    search = _Search(
        seed,
        replace(options, protocol=drawn_protocol(seed, options)),
        invariant,
        limit=limit,
        simulate=simulate,
    )
    _fewer_faults(search)
    _smaller(search, "members")
    _smaller(search, "partitions")
    _fewer_actions(search)
    return Shrunk(seed, search.options, search.counterexample, _until_broken(search), search.runs)


def _fewer_faults(search: _Search) -> None:
    """Forbid one kind of fault after the other."""
    for kind in search.options.faults:
        rest = tuple(other for other in search.options.faults if other is not kind)
        search.accept(replace(search.options, faults=rest))


def _smaller(search: _Search, size: str) -> None:
    """Count ``size`` down for as long as the run still fails."""
    while getattr(search.options, size) > 1:
        if not search.accept(replace(search.options, **{size: getattr(search.options, size) - 1})):
            return


def _fewer_actions(search: _Search) -> None:
    """Leave out churn actions until none can go."""
    actions = range(_actions(search))

    def kept(options: SimulationOptions) -> list[int]:
        return [index for index in actions if index not in options.omit]

    def still_fails(indices: tuple[int, ...]) -> SimulationOptions | None:
        omit = sorted({*search.options.omit, *actions} - {*indices})
        return search.options if search.accept(replace(search.options, omit=tuple(omit))) else None

    ddmin(search.options, kept, still_fails, search.runs_left, last_first=True)


def _actions(search: _Search) -> int:
    """How many churn actions there are to leave out, the final `Heal` apart."""
    return len(churn_schedule(search.seed, replace(search.options, omit=())).actions) - 1


def _until_broken(search: _Search) -> tuple[Event, ...]:
    """The history of the small run, cut off where the claim broke."""
    history = list(search.simulate(search.seed, search.options))
    last = search.counterexample.events[-1] if search.counterexample.events else None
    cut = next((place for place, event in enumerate(history, 1) if event == last), len(history))
    return tuple(history[:cut])
