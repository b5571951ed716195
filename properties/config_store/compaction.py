"""What compaction may take away from the config topic: what a later record of the same key supersedes."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCompacted,
)
from rebalance_check.properties.config_store.readers import ConfigFold, ConfigStoreViolated
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP


class CompactionKeepsTheLastViolated(ConfigStoreViolated):
    """Compaction removed the last record of a key."""


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


CLAIMS: Final = (CompactionKeepsTheLast,)
"""In the order in which reports name them."""
