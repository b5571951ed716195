"""What a herder may have been blocked by: the base of claims that a worker does in time what is due."""

from __future__ import annotations

from collections.abc import Iterable

from rebalance_check.model.vocabulary.events import ConfigAppended, Event, MemberEvent, RequestAnswered, RequestSent
from rebalance_check.properties.connect.awaited import OF_STATUSES, OfStatuses
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.contract.pace import NEVER, Paces
from rebalance_check.properties.kinds import Handler, Invariant, Memories
from rebalance_check.properties.status.stores import process_of


class OtherWorkFold(WorkerFold):
    """Per worker: when something happened in it last that its herder may have waited for.

    That is each event of the ``kinds``, of its status store, and of what it appends to the config topic.
    """

    paces: Paces

    def __init__(
        self, invariant: Invariant, kinds: Iterable[type[Event]], handlers: dict[type[Event], Handler]
    ) -> None:
        every: dict[type[Event], Handler] = {
            **dict.fromkeys(kinds, self.on_other),
            **dict.fromkeys(OF_STATUSES, self.on_status),
            ConfigAppended: self.on_appended,
        }
        super().__init__(invariant, {**every, **handlers})
        self._last_ms: dict[str, int] = {}

    def share(self, memories: Memories) -> None:
        """What keeps its threads from acting, too."""
        super().share(memories)
        self.paces = Paces.among(memories)
        self.memories = (*self.memories, self.paces.run, self.paces)

    def look(self, member: str, event: Event) -> None:
        """Called before what happened in this worker counts."""

    def on_other(self, event: MemberEvent | RequestSent | RequestAnswered) -> None:
        """Its herder may have waited for that."""
        self._happens(event.member, event)

    def on_status(self, event: OfStatuses) -> None:
        """As `on_other`."""
        self._happens(process_of(event.worker), event)

    def on_appended(self, event: ConfigAppended) -> None:
        """As `on_other`."""
        self._happens(event.writer, event)

    def _happens(self, member: str, event: Event) -> None:
        self.look(member, event)
        self._last_ms[member] = event.time_ms

    def able_ms(self, member: str, due_ms: int) -> int:
        """From when on its herder could do what was due at ``due_ms``: `NEVER` where its threads are not known."""
        pace = self.paces.of.get(member)
        acts_ms = NEVER if pace is None else pace.acts_since()
        return max(due_ms, self._last_ms.get(member, 0), acts_ms)
