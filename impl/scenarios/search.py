"""Random scenarios told to our coordinator alone, and judged by what any coordinator promises (`promises`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from rebalance_check.impl.scenarios import Stage, perform
from rebalance_check.impl.scenarios.invariants import PROMISES, Promise
from rebalance_check.impl.scenarios.monitor import WatchedStage, Watching
from rebalance_check.impl.scenarios.runner import settings_of
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.model.shrink import ddmin
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

GROUP: Final = "g"
SHRINK_RUNS: Final = 600


@dataclass(frozen=True, slots=True)
class Told:
    """A scenario that breaks a promise or an invariant, and how; where it is a promise, it ends there."""

    promise: str
    scenario: tuple[str, ...]
    finding: str

    @property
    def steps(self) -> int:
        """Its lines, without the settings."""
        return len(self.scenario) - 1


def broken_promise(scenario: Sequence[str], promises: Sequence[Promise] = PROMISES) -> Told | None:
    """Tell a scenario: the first promise that breaks, or None."""
    config = settings_of(scenario[0])
    if config is None:
        raise RebalanceCheckError(f"{scenario[0]!r} is no line of settings: a scenario here begins with one")
    made = count(1)
    played = InProcess(config, new_member_id=lambda prefix: f"{prefix}-{next(made)}")
    stage = WatchedStage(played)
    watching = Watching(promises, played.describe(GROUP), config)
    for place, line in enumerate(scenario[1:], 1):
        for piece in pieces(stage, line):
            if broken := _perform(stage, played, piece, watching):
                return Told(broken[0], tuple(scenario[: place + 1]), broken[1])
    return None


def _perform(stage: WatchedStage, played: InProcess, line: str, watching: Watching) -> tuple[str, str] | None:
    """Perform a line: the first promise that it breaks, with how."""
    stage.requests.clear()
    stage.observed.clear()
    perform(stage, line)
    view = played.coordinator.inspect(GROUP)
    inside = (None, frozenset[str]()) if view is None else (view.generation, view.pending_ids)
    return watching.see(line, stage, played.describe(GROUP), *inside)


def pieces(stage: Stage, line: str) -> Iterator[str]:
    """Time passes from deadline to deadline, so that what happens at one of them is judged before the next."""
    command, _, duration = line.partition(" ")
    if command != "advance":
        yield line
        return
    end = stage.now + int(duration)
    while (now := stage.now) < end:
        deadline = stage.coordinator.next_deadline()
        yield f"advance {min(end, max(deadline, now + 1)) - now if deadline is not None else end - now}"


def shrunk(told: Told, promise: Promise) -> Told:
    """The same promise broken with as few lines as leaving out can reach."""
    return shortened(told, lambda scenario: broken_promise(scenario, [promise]))


def shortened(told: Told, again: Callable[[Sequence[str]], Told | None]) -> Told:
    """The scenario with as few lines as leaving out can reach; ``again`` runs one, and says what it breaks."""
    config = told.scenario[0]
    return ddmin(told, lambda one: one.scenario[1:], lambda lines: again((config, *lines)), SHRINK_RUNS)
