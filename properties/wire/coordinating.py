"""How a client deals with a coordinator that moves, loads or refuses: it looks it up anew, and it pauses."""

from __future__ import annotations

from collections import deque
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import ReplyObserved, RequestObserved
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.wire.clients import OF_MEMBERS
from rebalance_check.properties.wire.errors import (
    COORDINATOR_ERRORS,
    NONE,
    NOT_THE_COORDINATOR,
    REBALANCE_IN_PROGRESS,
    UNSEEN,
)
from rebalance_check.properties.wire.wire_fold import DISTURBANCES, DISTURBED, FAMILY, ONE_MEMBER, WireFold

REFUSALS: Final = 10
WINDOW_MS: Final = 300
"""A client that is refused `REFUSALS` times in so short a time does not pause: Java's client pauses for 100 ms."""


class LooksUpTheCoordinatorViolated(Violation):
    """A client went on with a node that does not coordinate its group, and asked for no other."""


class PausesAfterRefusalsViolated(Violation):
    """A client repeated a request that was refused for now without a pause."""


class _LooksUp(WireFold):
    """Per connection: the first refusal since the process looked its coordinator up."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RequestObserved: self.on_request, ReplyObserved: self.on_reply})
        self.bookkeeping = frozenset({ReplyObserved})
        self._refused: Recent[int, ReplyObserved] = Recent(WAITING)

    def on_reply(self, event: ReplyObserved) -> None:
        """A refused client looks for its coordinator; where a request is accepted, the node has become it."""
        client = self.memory.client
        if client is None or not client.process.is_known or event.fault in UNSEEN or event.api not in OF_MEMBERS:
            return
        if event.error == NONE:
            self._refused.pop(event.connection, None)
        elif event.error in NOT_THE_COORDINATOR and event.connection not in self._refused:
            self._refused[event.connection] = event

    def on_request(self, event: RequestObserved) -> None:
        """A look-up by its process ends what is due; so does its silence."""
        if event.api == Api.FIND_COORDINATOR:
            self._looked_up(event.process)
            return
        refused, client = self._refused.get(event.connection), self.memory.client
        if refused is None or client is None or event.api not in OF_MEMBERS:
            return
        if event.time_ms - max(refused.time_ms, client.resumed_ms) > client.session_ms:
            del self._refused[event.connection]
            self.test(
                f"{client.name} sends {event.api} to a node that is not its coordinator, and looked for no other",
                (f"{client.name} received {refused.error} in reply to its {refused.api} at {STEP};", refused),
                at=event,
            )

    def _looked_up(self, process: str) -> None:
        done = [connection for connection, refused in self._refused.items() if refused.process == process]
        for connection in done:
            self.tested()
            del self._refused[connection]


class _Pauses(WireFold):
    """Per process or connection: when it was refused last."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ReplyObserved: self.on_reply})
        self._refused: Recent[tuple[str, int, str], deque[ReplyObserved]] = Recent(WAITING)

    def on_reply(self, event: ReplyObserved) -> None:
        """The requests that a client repeats by itself; commits are repeated by the application.

        What was on its way when the refusal before it came is no repetition.
        """
        for_now = event.error in COORDINATOR_ERRORS or (
            event.error == REBALANCE_IN_PROGRESS and event.api == Api.HEARTBEAT
        )
        if not for_now or event.api not in REPEATED or event.fault in UNSEEN:
            return
        key = (event.process, 0 if event.process else event.connection, event.api)
        if key not in self._refused:
            self._refused[key] = deque(maxlen=REFUSALS)
        refused = self._refused[key]
        request = self.memory.request
        if refused and request is not None and request.seq < refused[-1].seq:
            return
        refused.append(event)
        if len(refused) == 1:
            return
        took_ms = event.time_ms - refused[0].time_ms
        fast = len(refused) == REFUSALS and took_ms < WINDOW_MS
        self.test(
            f"{event.process or 'a client'} sent {event.api} {REFUSALS} times in {took_ms} ms, refused each time"
            if fast else "",
            (f"the first of these replies was {refused[0].error} at {STEP};", refused[0]),
            at=event,
        )  # fmt: skip


REPEATED: Final = frozenset({Api.FIND_COORDINATOR, Api.JOIN_GROUP, Api.SYNC_GROUP, Api.HEARTBEAT})
"""The requests that a client repeats by itself when they are refused for now."""

LooksUpTheCoordinator: Final = Invariant(
    name="wire_looks_up_the_coordinator",
    family=FAMILY,
    claim="a client that is answered NOT_COORDINATOR or COORDINATOR_NOT_AVAILABLE goes on with that node for a session "
    "timeout at most before it sends FindCoordinator",
    source="AbstractCoordinator.markCoordinatorUnknown, ensureCoordinatorReady",
    premises=(ONE_MEMBER, DISTURBED, "a client whose process is unknown may look its coordinator up unseen"),
    exempted_by=DISTURBANCES,
    violation=LooksUpTheCoordinatorViolated,
    fold=_LooksUp,
)
"""A client that is refused by a node which is not its coordinator looks its coordinator up.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, session_timeout_ms=1000)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", error="NOT_COORDINATOR")
    RequestObserved(connection=1, process="p0", request=2, api="JoinGroup", version=9, session_timeout_ms=1000,
                    time_ms=1001)
"""

PausesAfterRefusals: Final = Invariant(
    name="wire_pauses_after_refusals",
    family=FAMILY,
    claim="a client that is refused for now (COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR; "
    f"REBALANCE_IN_PROGRESS to its heartbeats) pauses: it is not refused {REFUSALS} times within {WINDOW_MS} ms",
    source="retry.backoff.ms; AbstractCoordinator.joinGroupIfNeeded, lookupCoordinator",
    premises=(ONE_MEMBER, "commits are repeated by the application, and do not count"),
    exempted_by=DISTURBANCES,
    violation=PausesAfterRefusalsViolated,
    fold=_Pauses,
)
"""A client that is refused for now pauses before it tries again.

The smallest history that breaks it::

    ReplyObserved(connection=1, process="p0", request=1, api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")
    ReplyObserved(connection=1, process="p0", request=2, api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")
    ReplyObserved(connection=1, process="p0", request=3, api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")
    ReplyObserved(connection=1, process="p0", request=4, api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")
    ReplyObserved(connection=1, process="p0", request=5, api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")
    ReplyObserved(connection=1, process="p0", request=6, api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")
    ReplyObserved(connection=1, process="p0", request=7, api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")
    ReplyObserved(connection=1, process="p0", request=8, api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")
    ReplyObserved(connection=1, process="p0", request=9, api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")
    ReplyObserved(connection=1, process="p0", request=10, api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")
"""

CLAIMS: Final = (LooksUpTheCoordinator, PausesAfterRefusals)
"""In the order in which reports name them."""
