"""A bound on events without progress: a member or coordinator that spins ends the run, and is named."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.model.vocabulary.events import Event

BURST: Final = 20_000
"""So many events may happen between two actions of a schedule at any rate: several times those of a whole run."""

PER_SECOND: Final = 200
"""And so many more in each second of virtual time: five times those of twelve members at rest."""

WATCHED: Final = 1_000
"""From so many events beyond the bound it is read who spins."""


class SpinError(BaseException):
    """Something spins. No application can catch it, as its own errors are caught where it runs."""


class ProgressGuard:
    """Counts events; `begin` is called with each action of the schedule, `count` with each event.

    ``events`` are all of the run so far.
    """

    __slots__ = ("_began_ms", "_beyond", "_clock", "_first", "_limit", "_out_until_ms", "events")

    def __init__(self, clock: VirtualClock) -> None:
        self.events = 0
        self._clock = clock
        self._beyond: Counter[str] = Counter()
        self._out_until_ms = 0
        self.begin()

    def begin(self) -> None:
        """From here on the bound counts anew."""
        self._first, self._began_ms = self.events, self._clock.now_ms
        self._limit = self.events + BURST
        self._beyond.clear()

    def wait(self, outage_ms: int) -> None:
        """Something cannot be read for so many ms: a group that goes round until then may end it afterwards.

        Connect workers whose leader is behind the config topic do so (CONFIG_MISMATCH; ``WorkerCoordinator`` joins
        again before its herder reads on).
        """
        self._out_until_ms = max(self._out_until_ms, self._clock.now_ms + outage_ms)

    def count(self, event: Event) -> None:
        """Take note of an event.

        Raises: SpinError when there were too many for the time that passed; it names the source of most of them.
        """
        self.events += 1
        if self.events > self._limit:
            self._look(event)

    def release(self) -> None:
        """Count on without a bound: the run ends."""
        self._limit = 2**63

    def _look(self, event: Event) -> None:
        if self._began_ms < self._clock.now_ms <= self._out_until_ms:
            self.begin()
            return
        passed_ms = self._clock.now_ms - self._began_ms
        allowed = BURST + PER_SECOND * passed_ms // 1000
        if self.events - self._first <= allowed:
            self._limit = self._first + allowed
            return
        self._beyond[event.source] += 1
        if self._beyond.total() >= WATCHED:
            source, _ = self._beyond.most_common(1)[0]
            raise SpinError(f"{source} spins: {self.events - self._first:,} events within {passed_ms:,} ms, and no end")
