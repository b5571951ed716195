"""Timers as data: one per key, fired in order of deadline, then of arming; nothing here reads a clock."""

from __future__ import annotations

import heapq
from enum import StrEnum
from typing import NamedTuple


class TimerKind(StrEnum):
    """Kinds of coordinator timer."""

    SESSION = "session"
    JOIN = "join"
    SYNC = "sync"
    WRITE = "write"


class TimerKey(NamedTuple):
    """Arming a key again replaces the earlier timer; ``member_id`` is empty for the timers of a whole group.

    A WRITE belongs to no group; ``member_id`` is its number.
    """

    kind: TimerKind
    group_id: str
    member_id: str = ""


class Timer(NamedTuple):
    """An armed timer; ``arguments``: (delay, remaining) of an initial JOIN, (generation,) of a SYNC, else nothing."""

    deadline_ms: int
    order: int
    key: TimerKey
    arguments: tuple[int, ...] = ()


class Timers:
    """All timers of a coordinator (``CoordinatorRuntime.EventBasedCoordinatorTimer``)."""

    __slots__ = ("_armed", "_heap", "_order")

    def __init__(self) -> None:
        self._armed: dict[TimerKey, Timer] = {}
        self._heap: list[Timer] = []
        self._order = 0

    def __contains__(self, key: TimerKey) -> bool:
        return key in self._armed

    def arm(self, key: TimerKey, deadline_ms: int, *arguments: int) -> None:
        """Fire ``key`` at ``deadline_ms``, and not when it was armed for before."""
        self._order += 1
        timer = Timer(deadline_ms, self._order, key, arguments)
        self._armed[key] = timer
        heapq.heappush(self._heap, timer)
        if len(self._heap) > 64 + 4 * len(self._armed):
            self._heap = sorted(self._armed.values())

    def cancel(self, key: TimerKey) -> None:
        """Forget ``key``; nothing happens when it is not armed."""
        self._armed.pop(key, None)

    def clear(self) -> None:
        """Forget every timer."""
        self._armed.clear()
        self._heap.clear()

    def next_deadline(self) -> int | None:
        """When the next timer is due, in ms; None when none is armed."""
        self._drop_stale()
        return self._heap[0].deadline_ms if self._heap else None

    def pop_due(self, now_ms: int) -> Timer | None:
        """Take out the next timer that is due at ``now_ms``, or None."""
        self._drop_stale()
        if not self._heap or self._heap[0].deadline_ms > now_ms:
            return None
        timer = heapq.heappop(self._heap)
        del self._armed[timer.key]
        return timer

    def take(self, key: TimerKey) -> Timer | None:
        """Take a timer out before it is due, or None where it is not armed."""
        return self._armed.pop(key, None)

    def deadline(self, key: TimerKey) -> int | None:
        """When ``key`` is due, or None."""
        timer = self._armed.get(key)
        return None if timer is None else timer.deadline_ms

    def _drop_stale(self) -> None:
        while self._heap and self._armed.get(self._heap[0].key) is not self._heap[0]:
            heapq.heappop(self._heap)
