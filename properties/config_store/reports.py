"""C11: a store reads the records of the topic in order."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigRead,
)
from rebalance_check.properties.config_store.readers import ConfigFold, ConfigStoreViolated
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP


class ReadsInOrderViolated(ConfigStoreViolated):
    """A store read a record twice, or backwards."""


class _InOrder(ConfigFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConfigRead: self._read})
        self._before: dict[str, ConfigRead] = {}

    def _read(self, event: ConfigRead) -> None:
        """The memory forgets a reader when its process starts anew."""
        is_first = self.memory.of(event.member).reads == 1
        before, self._before[event.member] = self._before.get(event.member), event
        if before is not None and not is_first and event.offset <= before.offset:
            self.broken(
                f"{event.member} read offset {event.offset} after {before.offset}",
                f"it read offset {event.offset} at {STEP}: contradiction.",
                event,
                (f"{event.member} read offset {before.offset} at {STEP}.", before),
            )


ReadsInOrder: Final = Invariant(
    name="config_reads_in_order",
    family="config_store",
    claim="a store reads the records of the config topic in the order of their offsets, each once",
    source="KafkaBasedLog",
    violation=ReadsInOrderViolated,
    fold=_InOrder,
)
"""The smallest history that breaks it::

    ConfigRead(member="w0", offset=1, key="commit-c", value='{"tasks":0}')
    ConfigRead(member="w0", offset=0, key="connector-c", value='{"properties":{}}')
"""


CLAIMS: Final = (ReadsInOrder,)
