"""What compaction may take away from the config topic: what a later record of the same key supersedes."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCompacted,
    ConfigRead,
    ConfigReadStarted,
    ConfigTransactionEnded,
    WorkerConfigured,
)
from rebalance_check.properties.config_store.isolation import WHOLE
from rebalance_check.properties.config_store.readers import ConfigFold, ConfigStoreViolated
from rebalance_check.properties.config_store.topic import TopicFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP

DELETE_RETENTION_MS: Final = 86_400_000
"""``delete.retention.ms`` of brokers."""


class CompactionKeepsTheLastViolated(ConfigStoreViolated):
    """Compaction removed the last record of a key."""


class CompactionKeepsWhatIsNeededViolated(ConfigStoreViolated):
    """Compaction removed what an open transaction held back, or a tombstone that readers needed."""


class _Compaction(ConfigFold):
    """The last record of each key; a tombstone may go when its time has come, and what was aborted at any time."""

    bookkeeping = frozenset({ConfigAppended})
    needs = ((ConfigAppended,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConfigAppended: self._appended, ConfigCompacted: self._compacted})
        self._last: dict[str, ConfigAppended] = {}

    def _appended(self, event: ConfigAppended) -> None:
        self._last[event.key] = event

    def _compacted(self, event: ConfigCompacted) -> None:
        removed = set(event.removed)
        for key, last in sorted(self._last.items()):
            if last.offset in removed and last.value is not None and not last.transactional_id:
                self.contradiction(
                    f"compaction removes the last record of {key}",
                    (f"{last.writer} appended the last record of {key} at {STEP}, at offset {last.offset};", last),
                    (f"compaction removed that offset at {STEP}: contradiction.", event),
                )


class _Stops(TopicFold):
    """The topic has forgotten what was removed when this is asked; so each record is kept here, too."""

    needs = ((ConfigAppended,), (ConfigReadStarted,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConfigAppended: self._appended,
                ConfigCompacted: self._compacted,
                WorkerConfigured: self._worker,
            },
        )
        self.bookkeeping = frozenset({ConfigAppended, WorkerConfigured})
        self._standing: dict[int, ConfigAppended] = {}
        self._has_workers = False

    def _worker(self, _event: WorkerConfigured) -> None:
        """Workers make the topic with the brokers' delete.retention.ms."""
        self._has_workers = True

    def _appended(self, event: ConfigAppended) -> None:
        self._standing[event.offset] = event

    def _compacted(self, event: ConfigCompacted) -> None:
        newest = {record.key: offset for offset, record in self._standing.items() if self._is_final(offset)}
        for offset in event.removed:
            record = self._standing.pop(offset, None)
            why = self._against(event, record, newest) if record is not None and self.topic.is_whole else ""
            if record is not None and why:
                self.contradiction(
                    f"compaction removes {record.key} at offset {offset}",
                    (f"{record.key} was appended at {STEP}, at offset {offset};", record),
                    (f"compaction removed that offset at {STEP}, although {why}: contradiction.", event),
                )

    def _is_final(self, offset: int) -> bool:
        """Whether a record replaces those before it: what is open may yet be aborted."""
        return offset < self.topic.stable_end and not self.topic.is_aborted(offset)

    def _against(self, event: ConfigCompacted, record: ConfigAppended, newest: dict[str, int]) -> str:
        """Why a record must stay; empty where it may go."""
        if record.offset >= self.topic.stable_end:
            return "a transaction is open below it"
        if newest.get(record.key) != record.offset:
            return ""
        if record.value is not None:
            return "it is the last of its key, and was not aborted"
        if self._has_workers and event.time_ms - record.time_ms < DELETE_RETENTION_MS:
            return "tombstones stay for a day"
        behind = next((name for name, reader in self.topic.readers if reader.position <= record.offset), "")
        return f"{behind} has not read it" if behind else ""


CompactionKeepsTheLast: Final = Invariant(
    name="compaction_keeps_the_last",
    family="config_store",
    claim="compaction keeps the last record of each key, but for tombstones and records of transactions that may have "
    "been aborted",
    source="LogCleaner (cleanup.policy=compact); KafkaConfigBackingStore, whose topic must be compacted",
    premises=("the config topic's log is recorded",),
    violation=CompactionKeepsTheLastViolated,
    fold=_Compaction,
)
"""A worker that starts after a compaction reads all that counts.

The smallest history that breaks it::

    ConfigAppended(writer="w0", offset=0, key="connector-c", value='{"properties":{}}')
    ConfigCompacted(removed=(0,))
"""

CompactionKeepsWhatIsNeeded: Final = Invariant(
    name="compaction_keeps_what_is_needed",
    family="config_store",
    claim="compaction removes nothing from the last stable offset on, no last record of a key that was committed, and "
    "no last tombstone before delete.retention.ms has passed",
    source="LogCleanerManager.cleanableOffsets (firstUnstableOffset); LogCleaner; delete.retention.ms",
    premises=(
        WHOLE,
        "delete.retention.ms is a day, as brokers have it; of a topic without workers readers alone say what must stay",
    ),
    exempted_by=(ConfigRead, ConfigTransactionEnded),
    violation=CompactionKeepsWhatIsNeededViolated,
    fold=_Stops,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator")
    ConfigReadStarted(member="w0", isolation="read_committed")
    ConfigAppended(writer="w0", offset=0, key="connector-c", value=None, transactional_id="t", epoch=0)
    ConfigCompacted(removed=(0,))
"""

CLAIMS: Final = (CompactionKeepsTheLast, CompactionKeepsWhatIsNeeded)
"""In the order in which reports name them."""
