"""Many runs at once, in two halves: while Kafka's process works on what one half began, the other half is compared.

So neither of two cores waits for the other. Which step of which run comes when depends on the runs alone, never on who
was faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from rebalance_check.integration.virtual.process import VirtualKafka


class Run(Protocol):
    """A run in a environment of its own, in steps that begin and finish."""

    def begin(self) -> bool:
        """Send what the next step needs; False where there is none."""
        ...


R = TypeVar("R", bound=Run)


class Rounds(Generic[R]):
    """Runs that share a process.

    ``new_runs`` gives at most that many runs; ``finish`` ends a step and says which run goes on in its place, if any;
    ``ended`` is called with each run that has no next step.
    """

    def __init__(
        self, kafka: VirtualKafka, new_runs: Callable[[int], Iterable[R]], finish: Callable[[R], R | None],
        ended: Callable[[R], None], at_once: int,
    ) -> None:  # fmt: skip
        self._kafka, self._new_runs, self._finish, self._ended = kafka, new_runs, finish, ended
        self._half = max(1, at_once // 2)
        self._begun: list[list[R]] = [[], []]

    def go(self) -> bool:
        """Finish a step of every run and begin its next one; False when all have ended."""
        for side in range(2):
            going = self._finished(side)
            going += self._new_runs(self._half - len(going))
            for run in going:
                if run.begin():
                    self._begun[side].append(run)
                else:
                    self._ended(run)
            self._kafka.flush()
        return any(self._begun)

    def stop(self) -> list[R]:
        """Finish what has begun, and begin nothing; the runs that would go on."""
        return [*self._finished(0), *self._finished(1)]

    def _finished(self, side: int) -> list[R]:
        begun, self._begun[side] = self._begun[side], []
        return [run for each in begun if (run := self._finish(each)) is not None]
