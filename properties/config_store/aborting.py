"""Which transactions of the config topic may be committed: those whose worker goes on with its call."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCallEnded,
    ConfigReadStarted,
    ConfigTransactionEnded,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
)
from rebalance_check.properties.config_store.calls import FAILED_TRANSACTION, PRIVILEGED
from rebalance_check.properties.config_store.readers import ConfigStoreViolated
from rebalance_check.properties.config_store.topic import ABORTED, Producer
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class FailedTransactionsAreAbortedViolated(ConfigStoreViolated):
    """What a failed call, or a process that ended, had written in a transaction was committed."""


class _Aborted(SimulatedFold):
    """Per transaction that is open: who writes in it. Per worker: a transaction that was committed just now."""

    bookkeeping = frozenset({ConfigAppended, ConfigReadStarted, MemberStarted})
    needs = ((ConfigAppended,), (ConfigTransactionEnded,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            ConfigAppended: self.on_appended,
            ConfigTransactionEnded: self.on_transaction,
            ConfigReadStarted: self.on_read,
            ConfigCallEnded: self.on_call_ended,
            MemberStarted: self.on_started,
            MemberCrashed: self.on_gone,
            MemberLeft: self.on_gone,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._open: Recent[Producer, ConfigAppended] = Recent(WAITING)
        self._committed: dict[str, ConfigTransactionEnded] = {}
        self._gone: Recent[str, MemberEvent] = Recent(WAITING)

    def on_appended(self, event: ConfigAppended) -> None:
        """Its transaction is open."""
        if event.transactional_id:
            self._open[event.transactional_id, event.epoch] = event

    def on_transaction(self, event: ConfigTransactionEnded) -> None:
        """The worker knows by what it does next whether it committed that; one that is gone has not."""
        appended = self._open.pop((event.transactional_id, event.epoch), None)
        if appended is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if event.outcome == ABORTED:
            return
        gone = self._gone.get(appended.writer)
        if gone is not None:
            self._report(
                event,
                (f"the process of {appended.writer} ended at {STEP};", gone),
                (f"its transaction was {event.outcome} at {STEP}: contradiction.", event),
            )
        else:
            self._committed[appended.writer] = event

    def on_read(self, event: ConfigReadStarted) -> None:
        """It reads back what it committed."""
        self._committed.pop(event.member, None)

    def on_call_ended(self, event: ConfigCallEnded) -> None:
        """A call of which the transaction is the last step returns then."""
        committed = self._committed.pop(event.member, None) if event.method in PRIVILEGED else None
        if committed is not None and event.error == FAILED_TRANSACTION:
            self._report(
                committed,
                (f"a transaction of {event.member} was {committed.outcome} at {STEP};", committed),
                (f"{event.method} threw {event.error} at {STEP}, for that had failed: contradiction.", event),
            )

    def on_started(self, event: MemberStarted) -> None:
        """Another process goes by this name."""
        self._gone.pop(event.member, None)

    def on_gone(self, event: MemberEvent) -> None:
        """It had gone on with what it committed before."""
        self._gone[event.member] = event
        committed = self._committed.pop(event.member, None)
        if committed is not None:
            self._report(
                committed,
                (f"a transaction of {event.member} was {committed.outcome} at {STEP};", committed),
                (f"its process ended at {STEP}, and had not gone on with the call: contradiction.", event),
            )

    def _report(self, committed: ConfigTransactionEnded, *reasons: tuple[str, Event]) -> None:
        self.contradiction(
            f"a transaction of {committed.transactional_id} with epoch {committed.epoch} is {committed.outcome}, and "
            "its worker did not commit it",
            *reasons,
        )


FailedTransactionsAreAborted: Final = Invariant(
    name="failed_transactions_are_aborted",
    family="config_store",
    claim="a transaction of the config topic is committed only where its worker goes on with its call, and reads it "
    "back: what a call had written that throws PrivilegedWriteException, or a process that ended, is aborted",
    source="KIP-98; KIP-618; KafkaConfigBackingStore.sendPrivileged, relinquishWritePrivileges; "
    "TransactionCoordinator (transaction.timeout.ms)",
    premises=(RECORDED, "a commit is answered at once: no call fails of which the transaction was committed"),
    exempted_by=(ConfigAppended, ConfigCallEnded, ConfigReadStarted, *PROCESS),
    violation=FailedTransactionsAreAbortedViolated,
    fold=_Aborted,
)
"""The leader that writes again after a failure would write it twice. The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    ConfigAppended(writer="w0", offset=0, key="connector-c", value="{}", transactional_id="t", epoch=0)
    ConfigTransactionEnded(transactional_id="t", epoch=0, offset=1, outcome="committed")
    ConfigCallEnded(member="w0", call=0, method="putConnectorConfig", error="PrivilegedWriteException")
"""

CLAIMS: Final = (FailedTransactionsAreAborted,)
"""In the order in which reports name them."""
