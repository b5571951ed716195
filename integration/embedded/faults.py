"""Faults on demand: what the embedded broker does to chosen requests instead of answering them at once.

    plan = FaultPlan()
    plan.add(Fault("SyncGroup", Effect.DROP_REPLY))                       # the first SyncGroup, once
    plan.add(Fault("Heartbeat", Effect.ANSWER, nth=3, error=Error.NOT_COORDINATOR))
    plan.add(Fault("OffsetCommit", Effect.CLOSE_AFTER, when=lambda request: request.group_id == "g", times=2))

A plan may be changed from any thread while the broker runs.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any

from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError


class Effect(StrEnum):
    """What happens to the request."""

    DELAY = "delay"
    """It is handled ``delay_s`` seconds later; what follows on its connection waits too."""
    DROP_REPLY = "drop-reply"
    """It is handled, and the reply thrown away; the connection stays open."""
    CLOSE_BEFORE = "close-before"
    """It is not handled; the connection is closed."""
    CLOSE_AFTER = "close-after"
    """It is handled, and the connection is closed instead of a reply: the outcome is unknown to the client."""
    ANSWER = "answer"
    """It is not handled; the reply carries ``error``."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: which requests, and what happens to them.

    ``api`` is Kafka's name (``JoinGroup``). The fault spares the requests before the ``nth`` of that api (counted from
    1 since the broker started) and those for which ``when``, asked about the decoded request, is false; then it strikes
    ``times`` times.
    """

    api: str
    effect: Effect
    _: KW_ONLY
    nth: int = 1
    when: Callable[[Any], bool] | None = None
    times: int = 1
    delay_s: float = 0.0
    error: Error = Error.NONE

    def __post_init__(self) -> None:
        if self.effect is Effect.DELAY and self.delay_s <= 0:
            raise RebalanceCheckError(f"a fault that delays {self.api} needs delay_s > 0, not {self.delay_s}")
        if self.effect is Effect.ANSWER and self.error is Error.NONE:
            raise RebalanceCheckError(f"a fault that answers {self.api} needs an error other than NONE")


class FaultPlan:
    """The faults that are still to strike, in the order they were added, and those that struck."""

    def __init__(self, *faults: Fault) -> None:
        self._lock = threading.Lock()
        self._pending: list[tuple[Fault, int]] = []
        self._seen: Counter[str] = Counter()
        self._struck: list[Fault] = []
        for fault in faults:
            self.add(fault)

    def add(self, fault: Fault) -> None:
        """Add a fault."""
        with self._lock:
            self._pending.append((fault, fault.times))

    def clear(self) -> None:
        """Forget the faults that have not struck."""
        with self._lock:
            self._pending.clear()

    @property
    def struck(self) -> tuple[Fault, ...]:
        """The faults that struck so far, in order, one entry for each time."""
        with self._lock:
            return tuple(self._struck)

    def seen(self, api: str) -> int:
        """How many requests of this api arrived so far."""
        with self._lock:
            return self._seen[api]

    def strike(self, api: str, request: Any) -> Fault | None:
        """Count a request that arrived, and return the fault that strikes it, if any."""
        with self._lock:
            self._seen[api] += 1
            for position, (fault, left) in enumerate(self._pending):
                if fault.api == api and self._chosen(fault, api, request):
                    self._pending[position : position + 1] = [(fault, left - 1)] if left > 1 else []
                    self._struck.append(fault)
                    return fault
            return None

    def _chosen(self, fault: Fault, api: str, request: Any) -> bool:
        return self._seen[api] >= fault.nth and (fault.when is None or fault.when(request))
