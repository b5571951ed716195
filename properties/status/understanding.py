"""What a store sent, every store understands."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import StatusAppended, StatusIgnored
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.status.violations import SentRecordNotUnderstood
from rebalance_check.properties.verdict import STEP, Because
from rebalance_check.properties.views.recent import WAITING, Recent

NOT_UNDERSTOOD: Final = frozenset({"malformed", "unknown key", "null key"})
"""The reasons for which a reader leaves out what no store of Connect writes."""


class _Understood(Fold):
    """Where in the topic the records stand that stores sent."""

    needs = ((StatusAppended,),)
    bookkeeping = frozenset({StatusAppended})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAppended: self.on_appended, StatusIgnored: self.on_ignored})
        self._sent: Recent[tuple[int, int], StatusAppended] = Recent(WAITING)

    def on_appended(self, event: StatusAppended) -> None:
        """A store sent this record."""
        self._sent[event.partition, event.offset] = event

    def on_ignored(self, event: StatusIgnored) -> None:
        """Only what others wrote is left out for its form."""
        sent = self._sent.get((event.partition, event.offset))
        if sent is None or event.reason not in NOT_UNDERSTOOD or sent.key != event.key:
            return
        self.violated(
            f"{event.worker} does not understand {event.key}, which {sent.worker} wrote",
            [
                Because(f"{sent.worker} wrote {sent.key} to offset {sent.offset} at {STEP}.", sent),
                Because(f"{event.worker} read it at {STEP}, and left it out ({event.reason}): contradiction.", event),
            ],
            [sent, event],
        )


SentRecordsAreUnderstood: Final = Invariant(
    name="safe_status_writes.sent_records_are_understood",
    family="safe_status_writes",
    claim="no store leaves out for its form a record that a store of Connect wrote",
    source="KafkaStatusBackingStore.read, parseConnectorStatusKey, parseConnectorTaskId, parseTopicStatus",
    premises=("no connector has a name that its keys cannot carry",),
    violation=SentRecordNotUnderstood,
    fold=_Understood,
)
"""S8: what is written is read. The smallest history that breaks it::

    StatusAppended(worker="w0", key="status-topic-t:connector-c", attempt=0, send=1, partition=0, offset=0)
    StatusIgnored(worker="w0", key="status-topic-t:connector-c", partition=0, offset=0, reason="malformed")
"""
