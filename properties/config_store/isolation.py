"""What a reader of the config topic may see: what stands there, and of transactions what is committed.

A reader with ``isolation.level=read_committed`` stops at the last stable offset, the first of an open transaction.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCompacted,
    ConfigRead,
    ConfigReadStarted,
    ConfigTransactionEnded,
    Event,
)
from rebalance_check.properties.config_store.readers import ConfigStoreViolated
from rebalance_check.properties.config_store.topic import READ_COMMITTED, TopicFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP

WHOLE: Final = "the run is one of the simulator, and the topic is recorded from its first record on, with its markers"
"""The premise of claims about the topic: offsets and reads stand in one order."""


class ReadersReturnTheTopicViolated(ConfigStoreViolated):
    """A reader returned what does not stand in the topic, or is not committed."""


class _Returns(TopicFold):
    needs = ((ConfigAppended,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConfigRead: self._read})
        self.compared = 0

    def _read(self, event: ConfigRead) -> None:
        if not self.topic.is_whole:
            return
        self.compared = (self.compared or 0) + 1
        record = self.topic.records.get(event.offset)
        if record is None:
            self._report(event, "no record stands at that offset", None)
        elif (record.key, record.value) != (event.key, event.value):
            self._report(event, f"the record there is {record.key} with the value {record.value}, of {STEP}", record)
        elif self.topic.of(event.member).isolation == READ_COMMITTED:
            self._judge_committed(event)

    def _judge_committed(self, event: ConfigRead) -> None:
        """What a reader of committed records returns lies below every open transaction, and was not aborted."""
        topic = self.topic
        if event.offset >= topic.stable_end:
            first = topic.records.get(topic.stable_end)
            self._report(event, f"from offset {topic.stable_end} on a transaction is open, since {STEP}", first)
        elif topic.is_aborted(event.offset):
            self._report(event, f"its transaction was aborted at {STEP}", topic.ended[event.offset])

    def _report(self, event: ConfigRead, why: str, evidence: Event | None) -> None:
        self.contradiction(
            f"{event.member} reads {event.key} at offset {event.offset} of the config topic, which is not there for it",
            (f"{why};", evidence),
            (f"{event.member} read {event.key} at offset {event.offset} at {STEP}: contradiction.", event),
        )


ReadersReturnTheTopic: Final = Invariant(
    name="config_readers_return_the_topic",
    family="config_store",
    claim="what a reader of the config topic returns is the record that stands at that offset; with "
    "isolation.level=read_committed its transaction was committed, and no transaction is open below it",
    source="KIP-98: last stable offset; KafkaBasedLog; KafkaConfigBackingStore (isolation.level)",
    premises=(WHOLE,),
    exempted_by=(ConfigAppended, ConfigCompacted, ConfigReadStarted, ConfigTransactionEnded),
    violation=ReadersReturnTheTopicViolated,
    fold=_Returns,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator")
    ConfigReadStarted(member="w0", isolation="read_committed")
    ConfigAppended(writer="w0", offset=0, key="connector-c", value=None)
    ConfigRead(member="w0", offset=0, key="connector-d", value=None)
"""


CLAIMS: Final = (ReadersReturnTheTopic,)
"""In the order in which reports name them."""
