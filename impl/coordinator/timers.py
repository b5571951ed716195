"""Timers as data: one per key, fired in order of deadline, then of arming; nothing here reads a clock."""

from __future__ import annotations

import heapq
from collections import Counter
from enum import StrEnum
from typing import Any, Final, NamedTuple

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MAX_FIRINGS: Final = 1_000
"""How often one timer may fire at one instant: more is a defect, and would never come to an end."""


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

    def __deepcopy__(self, _memo: dict[int, Any]) -> TimerKey:
        return self


class Timer(NamedTuple):
    """An armed timer; ``arguments``: (delay, remaining) of an initial JOIN, (generation,) of a SYNC, else nothing."""

    deadline_ms: int
    order: int
    key: TimerKey
    arguments: tuple[int, ...] = ()

    def __deepcopy__(self, _memo: dict[int, Any]) -> Timer:
        return self


class Timers:
    """All timers of a coordinator (``CoordinatorRuntime.EventBasedCoordinatorTimer``).

    A timer whose firing arms it again without delay stands aside: in Kafka it fires again and again, between all else
    that the coordinator does, and changes nothing until something else has happened. Here it fires once more after each
    other timer, and whenever `recall` says that something happened.
    """

    __slots__ = ("_armed", "_aside", "_fired", "_heap", "_instant_ms", "_order", "_recalled")

    def __init__(self) -> None:
        self._armed: dict[TimerKey, Timer] = {}
        self._heap: list[Timer] = []
        self._order = 0
        self._aside: list[Timer] = []
        self._recalled: set[TimerKey] = set()
        self._fired: Counter[TimerKey] = Counter()
        self._instant_ms = 0

    def __contains__(self, key: TimerKey) -> bool:
        return key in self._armed

    def arm(self, key: TimerKey, deadline_ms: int, *arguments: int) -> None:
        """Fire ``key`` at ``deadline_ms``, and not when it was armed for before."""
        self._order += 1
        timer = Timer(deadline_ms, self._order, key, arguments)
        self._armed[key] = timer
        heapq.heappush(self._heap, timer)
        if len(self._heap) > 64 + 4 * len(self._armed):
            self._heap = sorted(each for each in self._heap if self._armed.get(each.key) is each)

    def cancel(self, key: TimerKey) -> None:
        """Forget ``key``; nothing happens when it is not armed."""
        self._armed.pop(key, None)

    def clear(self) -> None:
        """Forget every timer."""
        self._armed.clear()
        self._heap.clear()
        self._aside.clear()

    def next_deadline(self) -> int | None:
        """When the next timer is due, in ms; None when none is armed. Those that stand aside do not count."""
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

    def recall(self) -> None:
        """Let each timer that stands aside fire once more: a request came in, or time passes."""
        self._fired.clear()
        self._bring_back()

    def settle(self, timer: Timer, now_ms: int) -> None:
        """``timer`` fired at ``now_ms``, in ms: where that armed it again for a time that has come, it stands aside.

        Raises:
            RebalanceCheckError: it fired more than `MAX_FIRINGS` times at this instant.
        """
        self._count(timer.key, now_ms)
        again = self._armed.get(timer.key)
        if again is not None and again.deadline_ms <= now_ms:
            self._heap = [each for each in self._heap if each is not again]
            heapq.heapify(self._heap)
            self._aside.append(again)
        if timer.key in self._recalled:
            self._recalled.discard(timer.key)
        else:
            self._bring_back(but=timer.key)

    def take(self, key: TimerKey) -> Timer | None:
        """Take a timer out before it is due, or None where it is not armed."""
        return self._armed.pop(key, None)

    def armed(self) -> tuple[Timer, ...]:
        """Every timer that is armed, in order of deadline, then of arming."""
        return tuple(sorted(self._armed.values()))

    def deadline(self, key: TimerKey) -> int | None:
        """When ``key`` is due, or None."""
        timer = self._armed.get(key)
        return None if timer is None else timer.deadline_ms

    def _bring_back(self, but: TimerKey | None = None) -> None:
        kept = [each for each in self._aside if each.key == but]
        for timer in self._aside:
            if timer.key != but and self._armed.get(timer.key) is timer:
                heapq.heappush(self._heap, timer)
                self._recalled.add(timer.key)
        self._aside = kept

    def _count(self, key: TimerKey, now_ms: int) -> None:
        if now_ms != self._instant_ms:
            self._fired.clear()
            self._instant_ms = now_ms
        self._fired[key] += 1
        if self._fired[key] > MAX_FIRINGS:
            of_member = f", member {key.member_id!r}" if key.member_id else ""
            raise RebalanceCheckError(
                f"the {key.kind} timer of group {key.group_id!r}{of_member} fired {MAX_FIRINGS:,} times at "
                f"{now_ms} ms: the coordinator arms it again whenever it is due; find out what arms it without delay"
            )

    def _drop_stale(self) -> None:
        while self._heap and self._armed.get(self._heap[0].key) is not self._heap[0]:
            heapq.heappop(self._heap)
