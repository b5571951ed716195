"""The driver of every comparison: steps for two sides, and the observations of both after each."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from rebalance_check.impl.comparison.difference import Difference, Field, differing

Differ = Callable[[Any, Any], tuple[Field, ...]]
"""Projects two observations to the part that both sides can show, and returns the fields in which they differ."""


class Run(Protocol):
    """One comparison on its way, in steps that begin and finish: those of many runs can share a way to a process."""

    @property
    def steps(self) -> Sequence[Any]:
        """The steps that both sides did so far."""
        ...

    def begin(self) -> bool:
        """Send the requests of the next step; False at the end."""
        ...

    def finish(self) -> Difference | None:
        """End the step that has begun; the difference that it shows, after which the run is over."""
        ...

    def close(self) -> None:
        """Give back the run's resources; a second call does nothing."""


R = TypeVar("R", bound=Run)


class Side(Protocol):
    """A subject under comparison: it does a step, and shows the result."""

    @property
    def name(self) -> str:
        """Whose it is, as reports call it."""
        ...

    def perform(self, step: Any, /) -> Any:
        """Do a step; the observation after it."""
        ...


class Schedule(Protocol):
    """The steps of a run, one by one; each may depend on observations of those before."""

    def __iter__(self) -> Iterator[Any]: ...

    def observe(self, shown: Any, /) -> None:
        """Take note of the last step, as the first side showed it."""


class Script:
    """Steps that are known beforehand."""

    def __init__(self, steps: Iterable[Any]) -> None:
        self._steps = steps

    def __iter__(self) -> Iterator[Any]:
        return iter(self._steps)

    def observe(self, shown: Any, /) -> None:
        """Nothing depends on it."""


class Lockstep:
    """A `Run` of a schedule on sides that do each step at once; the first is compared with each of the others.

    The schedule follows the first one. ``compared`` counts the observations that were held together.
    """

    def __init__(self, sides: Sequence[Side], schedule: Schedule, differ: Differ = differing) -> None:
        self.steps: list[Any] = []
        self.compared = 0
        self._sides, self._schedule, self._differ = sides, schedule, differ
        self._coming = iter(schedule)

    def begin(self) -> bool:
        """Take the next step of the schedule; False where there is none."""
        step = next(self._coming, None)
        if step is not None:
            self.steps.append(step)
        return step is not None

    def finish(self) -> Difference | None:
        """Let all sides do it, and compare."""
        first, *others = [side.perform(self.steps[-1]) for side in self._sides]
        for side, shown in zip(self._sides[1:], others, strict=True):
            self.compared += 1
            if fields := self._differ(first, shown):
                return Difference((self._sides[0].name, side.name), tuple(self.steps), fields, kind=fields[0].name)
        self._schedule.observe(first)
        return None

    def close(self) -> None:
        """The sides belong to the caller."""


def compared(run: Run) -> Difference | None:
    """Do a run to its end, or to its first difference, and close it."""
    try:
        while run.begin():
            if (found := run.finish()) is not None:
                return found
    finally:
        run.close()
    return None


def first_difference(
    sides: tuple[str, str], steps: Sequence[Any], shown: tuple[Sequence[Any], Sequence[Any]], differ: Differ = differing
) -> Difference | None:
    """The first difference of two sides that have done all steps already; ``shown`` has an observation for each."""
    for number, (_, first, second) in enumerate(zip(steps, *shown, strict=True), 1):
        if first != second and (fields := differ(first, second)):
            return Difference(sides, tuple(steps[:number]), fields, kind=fields[0].name)
    return None


def together(
    runs: Iterable[R], flush: Callable[[], None], at_once: int
) -> Generator[tuple[R, Difference | None], None, None]:
    """Do many runs at once, in two halves: one waits for a process while the other is compared.

    Each run comes back when it is over, closed, with its difference. ``flush`` sends the begun steps of runs. Runs are
    taken from ``runs`` as others are over; those that go on are closed with the generator.
    """
    halves: list[list[R]] = [[], []]
    waiting, most = iter(runs), max(1, at_once // 2)
    is_going = True
    try:
        while is_going:
            for half in halves:
                yield from _finished(half)
                yield from _begun(half, waiting, most)
                flush()
            is_going = any(halves)
    finally:
        for run in (*halves[0], *halves[1]):
            run.close()


def _finished(half: list[R]) -> Iterator[tuple[R, Difference | None]]:
    """Finish the step of every run."""
    for run in [*half]:
        found = run.finish()
        if found is not None:
            half.remove(run)
            run.close()
            yield run, found


def _begun(half: list[R], waiting: Iterator[R], most: int) -> Iterator[tuple[R, Difference | None]]:
    """Begin the next step of every run, add new runs until ``most`` are going on, and yield those that are over."""
    at = 0
    while True:
        if at == len(half):
            added = next(waiting, None) if at < most else None
            if added is None:
                return
            half.append(added)
        if half[at].begin():
            at += 1
        else:
            run = half.pop(at)
            run.close()
            yield run, None
