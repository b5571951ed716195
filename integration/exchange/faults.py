"""Faults on demand: effects on chosen requests instead of an answer at once.

    plan = FaultPlan()
    plan.add(Fault("SyncGroup", Effect.DROP_REPLY))                       # the first SyncGroup, once
    plan.add(Fault("Heartbeat", Effect.ANSWER, nth=3, error=Error.NOT_COORDINATOR))
    plan.add(Fault("JoinGroup", Effect.MOVE_COORDINATOR, client_id="b", node=2))
    plan.add(Fault("OffsetCommit", Effect.CLOSE_AFTER, when=lambda request: request.group_id == "g", times=2))

A plan may be changed from any thread while the broker runs.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any, Final

from rebalance_check.integration.exchange.refusals import can_refuse
from rebalance_check.integration.exchange.seen import Seen
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError


class Effect(StrEnum):
    """The effect on the request."""

    DELAY = "delay"
    """It is handled ``delay_s`` seconds later; later frames of its connection wait too."""
    DROP_REPLY = "drop-reply"
    """It is handled, and the reply thrown away; the connection stays open."""
    CLOSE_BEFORE = "close-before"
    """It is not handled; the connection is closed."""
    CLOSE_AFTER = "close-after"
    """It is handled, and the connection is closed instead of a reply: the outcome is unknown to the client."""
    ANSWER = "answer"
    """It is not handled; the reply carries ``error``."""
    MOVE_COORDINATOR = "move-coordinator"
    """The coordinator of its group moves to ``node`` before it is handled."""
    END_SESSION = "end-session"
    """The coordinator lets the session of its sender expire before it is handled."""
    JUMP_CLOCK = "jump-clock"
    """The coordinator's clock jumps ``jump_ms`` ahead before it is handled."""


OF_THE_COORDINATOR: Final = frozenset({Effect.MOVE_COORDINATOR, Effect.END_SESSION, Effect.JUMP_CLOCK})
"""Effects that need more than frames: a `control.Control` has to carry them out."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: which requests, and their effect.

    ``api`` is Kafka's name (``JoinGroup``). The fault spares the requests before the ``nth`` of that api (counted from
    1 since the broker started) and those for which ``when``, asked about the decoded request, is false; then it strikes
    ``times`` times. Where ``client_id``, ``instance_id``, ``process`` or ``member_id`` (its beginning) names the
    sender, the fault is about that sender's requests alone, and counts those since it was added.
    """

    api: str
    effect: Effect
    _: KW_ONLY
    nth: int = 1
    when: Callable[[Any], bool] | None = None
    times: int = 1
    client_id: str = ""
    instance_id: str = ""
    process: str = ""
    member_id: str = ""
    delay_s: float = 0.0
    error: Error = Error.NONE
    node: int = -1
    jump_ms: int = 0

    def __post_init__(self) -> None:
        if self.nth < 1 or self.times < 1:
            raise RebalanceCheckError(f"a fault at {self.api} needs nth and times from 1, not {self.nth}, {self.times}")
        if self.effect is Effect.DELAY and self.delay_s <= 0:
            raise RebalanceCheckError(f"a fault that delays {self.api} needs delay_s > 0, not {self.delay_s}")
        if self.effect is Effect.ANSWER and self.error is Error.NONE:
            raise RebalanceCheckError(f"a fault that answers {self.api} needs an error other than NONE")
        if self.effect is Effect.ANSWER and not can_refuse(self.api):
            raise RebalanceCheckError(
                f"a fault cannot answer {self.api} with {self.error.name}: choose an api whose reply has an error of "
                "its own, such as JoinGroup or FindCoordinator"
            )
        if self.effect is Effect.MOVE_COORDINATOR and self.node < 0:
            raise RebalanceCheckError(f"a fault that moves the coordinator at {self.api} needs node >= 0")
        if self.effect is Effect.JUMP_CLOCK and self.jump_ms <= 0:
            raise RebalanceCheckError(f"a fault that lets the clock jump needs jump_ms > 0, not {self.jump_ms}")

    @property
    def names_sender(self) -> bool:
        """Whether it is about the requests of one sender."""
        return bool(self.client_id or self.instance_id or self.process or self.member_id)

    @property
    def reads(self) -> bool:
        """Whether the request has to be decoded to know whether, or how, the fault strikes."""
        return self.names_sender or self.when is not None or self.effect is Effect.ANSWER or self.needs_control

    @property
    def needs_control(self) -> bool:
        """Whether a `control.Control` has to carry it out."""
        return self.effect in OF_THE_COORDINATOR

    def is_about(self, seen: Seen) -> bool:
        """Whether the request is of the api and the sender that the fault names."""
        return (
            self.api == seen.api
            and self.client_id in ("", seen.client_id)
            and self.instance_id in ("", seen.instance_id)
            and self.process in ("", seen.process)
            and seen.member_id.startswith(self.member_id)
        )


@dataclass(slots=True)
class _Pending:
    """A fault that is still to strike: how often, and how many requests of the sender that it names passed so far."""

    fault: Fault
    left: int
    passed: int = 0


class FaultPlan:
    """The faults that are still to strike, in the order they were added, and those that struck."""

    def __init__(self, *faults: Fault) -> None:
        self._lock = threading.Lock()
        self._pending: list[_Pending] = []
        self._seen: Counter[str] = Counter()
        self._struck: list[Fault] = []
        for fault in faults:
            self.add(fault)

    def add(self, fault: Fault) -> None:
        """Add a fault."""
        with self._lock:
            self._pending.append(_Pending(fault, fault.times))

    def clear(self) -> None:
        """Forget the faults that have not struck."""
        with self._lock:
            self._pending.clear()

    @property
    def struck(self) -> tuple[Fault, ...]:
        """The faults that struck so far, in order, one entry for each time."""
        with self._lock:
            return tuple(self._struck)

    @property
    def pending(self) -> tuple[Fault, ...]:
        """The faults that are still to strike, in the order they were added."""
        with self._lock:
            return tuple(each.fault for each in self._pending)

    def seen(self, api: str) -> int:
        """How many requests of this api arrived so far."""
        with self._lock:
            return self._seen[api]

    def reads(self, api: str) -> bool:
        """Whether a fault is still to strike for which a request of this api has to be decoded."""
        with self._lock:
            return any(each.fault.api == api and each.fault.reads for each in self._pending)

    def strike(self, seen: Seen) -> Fault | None:
        """Count a request that arrived, and return the fault that strikes it, if any."""
        with self._lock:
            self._seen[seen.api] += 1
            concerned = [each for each in self._pending if each.fault.is_about(seen)]
            for each in concerned:
                each.passed += 1
            struck = next((each for each in concerned if self._is_due(each, seen)), None)
            if struck is None:
                return None
            struck.left -= 1
            self._pending = [each for each in self._pending if each.left]
            self._struck.append(struck.fault)
            return struck.fault

    def _is_due(self, pending: _Pending, seen: Seen) -> bool:
        fault = pending.fault
        count = pending.passed if fault.names_sender else self._seen[seen.api]
        if count < fault.nth or (fault.reads and seen.request is None):
            return False
        return fault.when is None or fault.when(seen.request)
