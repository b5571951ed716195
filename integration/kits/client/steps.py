"""The steps that scenarios are made of."""

from __future__ import annotations

from rebalance_check.integration.kits.client.stepping import Steps
from rebalance_check.integration.kits.client.trial import Trial


def gather(trial: Trial) -> Steps:
    """All members are started, one right after the other, and become one generation."""
    for name in trial.names:
        trial.start(name)
    yield from settle(trial)


def settle(trial: Trial) -> Steps:
    """All that run become one generation, each with a Heartbeat after now."""
    what = f"one generation of {', '.join(trial.running)}"
    mark = trial.view.count
    yield from trial.reach(lambda: trial.is_settled(mark), what, 2 * trial.patience_s)


def join(trial: Trial, name: str) -> Steps:
    """One more process is started and becomes a member; the others are members of its generation."""
    trial.start(name)
    yield from settle(trial)


def leave(trial: Trial, name: str) -> Steps:
    """A process is asked to end, and ends; the others become one generation without it."""
    generation = trial.view.generation
    trial.terminate(name)
    yield from trial.await_end(name)
    if trial.running:
        yield from without(trial, generation)


def without(trial: Trial, generation: int, names: tuple[str, ...] = ()) -> Steps:
    """Those that run, or ``names``, become one generation that is newer than ``generation``."""
    expected = names or trial.running
    what = f"a generation after {generation} of {', '.join(expected)}"
    yield from trial.reach(lambda: trial.view.generation > generation and trial.view.is_settled(expected), what)


def end_all(trial: Trial) -> Steps:
    """All processes are asked to end at once, and end."""
    running = trial.running
    for name in running:
        trial.terminate(name)
    for name in running:
        yield from trial.await_end(name)
