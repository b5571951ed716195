"""S1, for lists: a store lists what it has read."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import StatusAttempted, StatusesListed, StatusRead
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.stores import Seen, StatusFold
from rebalance_check.properties.status.violations import ListDoesNotFollowReads
from rebalance_check.properties.verdict import STEP


class _ListsFollow(StatusFold):
    needs = ((StatusesListed, StatusRead, StatusAttempted),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusesListed: self._listed})

    def _listed(self, event: StatusesListed) -> None:
        """Exactly what is cached; among connectors also those that this store only wrote."""
        expected = self._expected(event)
        wrong = sorted(set(event.names) ^ set(expected))
        if not wrong and len(event.names) == len(expected):
            return
        name = wrong[0] if wrong else event.names[0]
        is_listed, is_known = name in event.names, name in expected
        of = f" of {event.connector}" if event.connector else ""
        self.contradiction(
            f"{event.worker} listed {', '.join(event.names) or 'nothing'} as the {event.kind}{of}",
            (f"of {name}, {event.worker} {'holds' if is_known else 'holds nothing, or nothing more of'} a status "
             f"({STEP}).", expected.get(name)),
            (f"it {'listed' if is_listed else 'did not list'} {name} at {STEP}: contradiction.", event),
        )  # fmt: skip

    def _expected(self, event: StatusesListed) -> dict[str, Seen | None]:
        """What the list must hold, with the record that shows it; a connector may have been written only."""
        store = self.memory.of(event.worker)
        if event.kind == "topics":
            return {topic: read for (connector, topic), read in store.topics.items() if connector == event.connector}
        if event.kind == "connectors":
            return {item[1]: entry.value for item, entry in store.entries.items() if item[0] == "connector"}
        return {
            "-".join(item[1:]): entry.value
            for item, entry in store.entries.items()
            if item[0] == "task" and item[1] == event.connector and entry.value is not None
        }


ListsFollowReads: Final = Invariant(
    name="safe_status_writes.lists_follow_reads",
    family="safe_status_writes",
    claim="a store lists the tasks and topics of a connector whose status it has read, and the connectors whose status "
    "it has read or written, and no others",
    source="KafkaStatusBackingStore.connectors, getAll, getAllTopics",
    premises=("every read and every call of a store is recorded, from its start",),
    exempted_by=(StatusAttempted, StatusRead),
    violation=ListDoesNotFollowReads,
    fold=_ListsFollow,
)
"""A connector of which only a suppressed write is known is listed, too. The smallest history that breaks it::

    StatusesListed(worker="w0", kind="tasks", connector="c", names=("c-0",))
"""
