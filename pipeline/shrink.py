"""Shrinking a failing run to its actions and choices: the same verdict from the fewest of each, and the least time.

The result is again a seed and options, so it replays from one command like any other run: its churn is written out
(``--actions``), and so are the faults of messages and threads (``--choices``), everything else being quiet.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.impl.runtime.choices import Choices, Value, written
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import churn_schedule, drawn_protocol
from rebalance_check.impl.simulator import simulate as simulator
from rebalance_check.impl.simulator.simulation import simulate_into
from rebalance_check.model.shrink import ddmin
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.campaign import Simulate
from rebalance_check.pipeline.seed_run import breaks, replay_command
from rebalance_check.pipeline.smaller_runs import (
    fewer_faults,
    fewer_members,
    fewer_partitions,
    less,
    merged,
    quieter,
    shorter,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Counterexample

SECONDS: Final = 25.0
"""So long a shrink takes at most; the run that is tried then is finished."""

MOST_RUNS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A failing run made small.

    ``history`` ends with the event at which the claim broke (or with the end of the run, for a claim about the end);
    ``counterexample`` explains it, ``runs`` counts the simulations of shrinking. ``unfinished`` says how far it got
    where time or runs ended before nothing could go any more; it is empty where nothing can.
    """

    seed: int
    options: SimulationOptions
    counterexample: Counterexample
    history: tuple[Event, ...]
    runs: int
    unfinished: str = ""

    @property
    def replay(self) -> str:
        """The command that repeats the small run."""
        return replay_command(self.seed, self.options)


class _Search:
    """Keeps the smallest options that still fail, and counts the cost of the search."""

    def __init__(
        self,
        seed: int,
        options: SimulationOptions,
        invariant: Invariant,
        *,
        limit: int,
        seconds: float,
        simulate: Simulate,
    ) -> None:
        self.seed = seed
        self.simulate = simulate
        self.options = options
        self.runs = 0
        self._invariant = invariant
        self._limit = limit
        self._end = time.monotonic() + seconds
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
        return 0 if time.monotonic() > self._end else self._limit - self.runs

    def accept(self, options: SimulationOptions) -> bool:
        """Whether the run with ``options`` fails in the same way; if so it is the best so far."""
        if options == self.options or not self.runs_left:
            return False
        self.runs += 1
        verdict = breaks(self.seed, options, self._invariant, self.simulate)
        if verdict is not None:
            self.options, self.counterexample = options, verdict.counterexample
        return verdict is not None

    def first_accepted(self, candidates: Iterator[SimulationOptions]) -> bool:
        """Whether one of the candidates fails in the same way; the first that does is the best so far."""
        return any(self.accept(options) for options in candidates)


def shrink(
    seed: int,
    options: SimulationOptions,
    invariant: Invariant,
    *,
    limit: int = MOST_RUNS,
    seconds: float = SECONDS,
    simulate: Simulate = simulator,
) -> Shrunk:
    """The smallest run near ``seed`` that violates ``invariant``, found with at most ``limit`` simulations.

    It takes about ``seconds`` at most, and says how far it got. ``simulate`` puts another subject in the simulator's
    place, whose own choices stay as they are.

    Raises `RebalanceCheckError` when the run does not violate it to begin with.
    """
    options = replace(options, protocol=drawn_protocol(seed, options))
    search = _Search(seed, options, invariant, limit=limit, seconds=seconds, simulate=simulate)
    search.accept(_spelled_out(seed, options))
    if simulate is simulator and options.choices is None:
        search.accept(_with_choices(seed, search.options))
    before = None
    while before != search.options and search.runs_left:
        before = search.options
        _fewer(search)
        search.first_accepted(quieter(search.options))
        _shorter(search)
    unfinished = "" if search.runs_left else _got_to(search)
    return Shrunk(seed, search.options, search.counterexample, _until_broken(search), search.runs, unfinished)


def _spelled_out(seed: int, options: SimulationOptions) -> SimulationOptions:
    """The same run, its churn written out."""
    actions = churn_schedule(seed, options).actions[:-1]
    return replace(options, actions=tuple(map(str, actions)), omit=(), steps=SimulationOptions().steps)


def _with_choices(seed: int, options: SimulationOptions) -> SimulationOptions:
    """The same run, its choices written out."""
    choices = Choices()
    simulate_into(seed, options, lambda _event: None, choices=choices)
    return replace(options, choices=written(_by_kind(choices.made)))


def _by_kind(made: dict[str, Value]) -> dict[str, Value]:
    """Choices of a kind stand together, so that all of them are left out at once where none is needed."""
    return dict(sorted(made.items(), key=lambda one: one[0].rpartition(".")[2].rstrip("0123456789")))


def _fewer(search: _Search) -> None:
    """Leave out choices, actions, members, partitions and faults, for as long as any can go.

    All choices first, as most runs need none; a run that does is short when they are left out one by one.
    """
    if search.options.choices:
        search.accept(replace(search.options, choices=()))
    _fewer_actions(search)
    while search.first_accepted(fewer_members(search.options)):
        pass
    _fewer_choices(search)
    while search.first_accepted(fewer_partitions(search.options)):
        pass
    while search.first_accepted(fewer_faults(search.options)):
        pass


def _fewer_choices(search: _Search) -> None:
    if search.options.choices is None:
        return

    def still_fails(choices: tuple[str, ...]) -> SimulationOptions | None:
        return search.options if search.accept(replace(search.options, choices=choices)) else None

    ddmin(search.options, lambda options: options.choices or (), still_fails, search.runs_left)


def _fewer_actions(search: _Search) -> None:
    """Leave out churn actions until none can go; an operator who upgrades waits for the group all the same."""
    actions = search.options.actions or ()
    kept = {place for place, action in enumerate(actions) if _is_kept(search.options, action)}

    def still_fails(places: tuple[int, ...]) -> tuple[int, ...] | None:
        chosen = tuple(actions[place] for place in sorted({*places, *kept}))
        return places if search.accept(replace(search.options, actions=chosen)) else None

    free = tuple(place for place in range(len(actions)) if place not in kept)
    ddmin(free, lambda places: places, still_fails, search.runs_left, last_first=True)


def _is_kept(options: SimulationOptions, action: str) -> bool:
    return bool(options.upgrade) and action.startswith(ActionKind.AWAIT_GROUP)


def _shorter(search: _Search) -> None:
    """Merge pauses, let them be shorter, and give choices lesser values, each for as long as the run still fails."""
    while search.first_accepted(merged(search.options)):
        pass
    for place in range(len(search.options.actions or ())):
        while search.first_accepted(shorter(search.options, place)):
            pass
    for place in range(len(search.options.choices or ())):
        while search.first_accepted(less(search.options, place)):
            pass


def _got_to(search: _Search) -> str:
    left = [f"{len(search.options.actions or ())} actions", f"{len(search.options.choices or ())} choices"]
    return f"shrinking ended after {search.runs} runs with {' and '.join(left)}: some of them may not be needed"


def _until_broken(search: _Search) -> tuple[Event, ...]:
    """The history of the small run, cut off where the claim broke."""
    history = list(search.simulate(search.seed, search.options))
    last = search.counterexample.events[-1] if search.counterexample.events else None
    cut = next((place for place, event in enumerate(history, 1) if event == last), len(history))
    return tuple(history[:cut])
