"""The offsets of the config topic and the ends of its transactions: a broker's side of what leaders write."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigReadStarted,
    ConfigTransactionEnded,
    Event,
    ProducerInitialised,
    RunSettled,
)
from rebalance_check.properties.config_store.isolation import WHOLE
from rebalance_check.properties.config_store.readers import ConfigStoreViolated
from rebalance_check.properties.config_store.topic import ABORTED, OUTCOMES, Producer, TopicFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP


class ConfigOffsetsHaveNoGapsViolated(ConfigStoreViolated):
    """A record or a marker has another offset than the next one."""


class ConfigEpochsAreGivenViolated(ConfigStoreViolated):
    """A record names an epoch that its writer's producer has not."""


class ConfigTransactionsEndViolated(ConfigStoreViolated):
    """A transaction is open that must have ended, or one ended that held nothing, or one of a fenced producer did."""


class _NoGaps(TopicFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConfigAppended: self._placed, ConfigTransactionEnded: self._placed})

    def _placed(self, event: ConfigAppended | ConfigTransactionEnded) -> None:
        end = self.topic.end_before
        if self.topic.is_whole and event.offset != end:
            self.contradiction(
                f"offset {event.offset} of the config topic is taken, where {end} is the next one",
                (f"all that was appended before lies below offset {end};", None),
                (f"offset {event.offset} was taken at {STEP}: contradiction.", event),
            )


class _Epochs(TopicFold):
    needs = ((ConfigReadStarted,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ProducerInitialised: self._initialised, ConfigAppended: self._appended})
        self.bookkeeping = frozenset({ProducerInitialised})
        self._given: dict[Producer, ProducerInitialised] = {}

    def _initialised(self, event: ProducerInitialised) -> None:
        if not event.work:
            self._given[event.transactional_id, event.epoch] = event

    def _appended(self, event: ConfigAppended) -> None:
        """Plain producers have no epoch, others the one that the worker was given."""
        given = self._given.get((event.transactional_id, event.epoch))
        is_right = given is not None and given.member == event.writer if event.transactional_id else event.epoch == -1
        if not self.topic.is_whole or is_right:
            return
        how = f"with epoch {event.epoch} of {event.transactional_id or 'no transactional id'}"
        self.contradiction(
            f"{event.writer} appends {event.key} {how}",
            (f"that epoch is {given.member}'s since {STEP};" if given else "no worker was given that epoch;", given),
            (f"{event.writer} appended {event.key} {how} at {STEP}: contradiction.", event),
        )


class _End(TopicFold):
    needs = ((ConfigAppended,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ProducerInitialised: self._initialised,
                ConfigTransactionEnded: self._ended,
                RunSettled: self._settled,
                ConfigAppended: self._appended,
            },
        )
        self.bookkeeping = frozenset({ConfigAppended})
        self._holding: set[Producer] = set()
        self._youngest: dict[str, ProducerInitialised] = {}

    def _appended(self, event: ConfigAppended) -> None:
        if event.transactional_id:
            self._holding.add((event.transactional_id, event.epoch))

    def _initialised(self, event: ProducerInitialised) -> None:
        """A new producer aborts what the one before it left open."""
        if event.work:
            return
        self._youngest[event.transactional_id] = event
        for name, epoch in list(self.topic.open):
            if name == event.transactional_id:
                self._still_open((name, epoch), f"{event.member} got epoch {event.epoch} of {name}", event)

    def _ended(self, event: ConfigTransactionEnded) -> None:
        producer, youngest = (event.transactional_id, event.epoch), self._youngest.get(event.transactional_id)
        holds_a_record = producer in self._holding
        self._holding.discard(producer)
        if not self.topic.is_whole:
            return
        if not holds_a_record:
            self._report(event, "nothing was appended in it", None)
        elif event.outcome not in OUTCOMES:
            self._report(event, "a transaction is committed or aborted", None)
        elif youngest is not None and youngest.epoch > event.epoch and event.outcome != ABORTED:
            self._report(event, f"{youngest.member} had got epoch {youngest.epoch} at {STEP}", youngest)

    def _settled(self, event: RunSettled) -> None:
        """All that was under way has ended."""
        for producer in list(self.topic.open):
            self._still_open(producer, "the run had settled", event)

    def _still_open(self, producer: Producer, what: str, event: Event) -> None:
        first = self.topic.records.get(self.topic.open[producer][0])
        if self.topic.is_whole:
            self.contradiction(
                f"a transaction of {producer[0]} with epoch {producer[1]} does not end",
                (f"its first record was appended at {STEP};", first),
                (f"{what} at {STEP}, and it was open: contradiction.", event),
            )

    def _report(self, event: ConfigTransactionEnded, why: str, evidence: Event | None) -> None:
        self.contradiction(
            f"a transaction of {event.transactional_id} with epoch {event.epoch} is {event.outcome}",
            (f"{why};", evidence),
            (f"it was {event.outcome} at {STEP}: contradiction.", event),
        )


ConfigOffsetsHaveNoGaps: Final = Invariant(
    name="config_offsets_have_no_gaps",
    family="config_store",
    claim="each record of the config topic, and each marker that ends a transaction, takes the next offset",
    source="LogSegment, LogValidator: offsets are assigned one after the other",
    premises=(WHOLE,),
    exempted_by=(ConfigAppended, ConfigTransactionEnded),
    violation=ConfigOffsetsHaveNoGapsViolated,
    fold=_NoGaps,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator")
    ConfigReadStarted(member="w0", isolation="read_committed")
    ConfigAppended(writer="w0", offset=0, key="connector-c", value=None)
    ConfigAppended(writer="w0", offset=2, key="connector-c", value=None)
"""

ConfigTransactionsEnd: Final = Invariant(
    name="config_transactions_end",
    family="config_store",
    claim="a transaction of the config topic that holds a record ends: by the time at which a younger producer of its "
    "transactional id is initialised, which aborts it, and when the run has settled; a fenced producer commits nothing",
    source="KIP-98; KIP-618; TransactionCoordinator.handleInitProducerId",
    premises=(WHOLE,),
    exempted_by=(ConfigAppended, ConfigTransactionEnded),
    violation=ConfigTransactionsEndViolated,
    fold=_End,
)
"""An open transaction holds back every reader of committed records. The smallest history that breaks it::

    RunStarted(subject="simulator")
    ConfigReadStarted(member="w0", isolation="read_committed")
    ConfigAppended(writer="w0", offset=0, key="connector-c", value=None, transactional_id="t", epoch=0)
    ProducerInitialised(member="w1", transactional_id="t", epoch=1)
"""

ConfigEpochsAreGiven: Final = Invariant(
    name="config_epochs_are_given",
    family="config_store",
    claim="a record of the config topic that was appended in a transaction has an epoch that its writer's producer was "
    "given, and every other record has none",
    source="KIP-98; KIP-618; DefaultRecordBatch (producerEpoch -1)",
    premises=(WHOLE,),
    exempted_by=(ProducerInitialised,),
    violation=ConfigEpochsAreGivenViolated,
    fold=_Epochs,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator")
    ConfigReadStarted(member="w0", isolation="read_committed")
    ConfigAppended(writer="w0", offset=0, key="connector-c", value=None, epoch=3)
"""

CLAIMS: Final = (ConfigOffsetsHaveNoGaps, ConfigEpochsAreGiven, ConfigTransactionsEnd)
"""In the order in which reports name them."""
