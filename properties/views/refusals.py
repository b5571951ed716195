"""The refusals for now that each process, or connection of an unknown one, received one after the other."""

from __future__ import annotations

from collections import deque
from typing import ClassVar, Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import LookUpAnswered, ReplyObserved, RequestAnswered
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.clients import Clients
from rebalance_check.properties.views.errors import COORDINATOR_ERRORS, REBALANCE_IN_PROGRESS, UNSEEN
from rebalance_check.properties.views.recent import WAITING, Recent

REFUSALS: Final = 10
WINDOW_MS: Final = 300
"""A client that is refused `REFUSALS` times in so short a time does not pause: Java's client pauses for 100 ms."""

REPEATED: Final = frozenset({Api.FIND_COORDINATOR, Api.JOIN_GROUP, Api.SYNC_GROUP, Api.HEARTBEAT})
"""The requests that a client repeats by itself when they are refused for now."""


class RefusedForNow(Memory):
    """``run`` are the last refusals of the client at hand, up to the one at hand; None where that is none.

    A request that was on its way when the refusal before it came is no repetition.
    """

    uses: ClassVar = (Clients,)

    def __init__(self, clients: Clients) -> None:
        super().__init__(dict.fromkeys((ReplyObserved, RequestAnswered, LookUpAnswered), self._take))
        self.run: deque[ReplyObserved] | None = None
        self._clients = clients
        self._runs: Recent[tuple[str, int, str], deque[ReplyObserved]] = Recent(WAITING)

    def _take(self, _event: ReplyObserved | RequestAnswered | LookUpAnswered) -> None:
        self.run = None
        got, request = self._clients.got, self._clients.request
        if got is None or got.api not in REPEATED or got.fault in UNSEEN:
            return
        is_rebalance = got.error == REBALANCE_IN_PROGRESS and got.api == Api.HEARTBEAT
        if got.error not in COORDINATOR_ERRORS and not is_rebalance:
            return
        key = (got.process, 0 if got.process else got.connection, got.api)
        if key not in self._runs:
            self._runs[key] = deque(maxlen=REFUSALS)
        run = self._runs[key]
        if not run or request is None or request.seq >= run[-1].seq:
            run.append(got)
            self.run = run
