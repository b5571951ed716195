"""C11 and C12: a store reports what it reads, nothing before its start, and nothing that is no change."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigCallbackCalled,
    ConfigRead,
    ConfigReadEnded,
    ConfigSnapshotTaken,
    ConfigStoreStarted,
    MemberStarted,
)
from rebalance_check.properties.config_store.readers import Callback, ConfigFold, ConfigStoreViolated
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP


class CallbacksFollowReadsViolated(ConfigStoreViolated):
    """C11, C12: a store called back what it should not have, or did not call back what it should have."""


class ReadsInOrderViolated(ConfigStoreViolated):
    """A store read a record twice, or backwards."""


class StoreStartsOnceViolated(ConfigStoreViolated):
    """A store started twice in one process."""


class _Called(ConfigFold):
    """What is due after a record must have been called when the reader goes on."""

    needs = ((ConfigCallbackCalled,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConfigCallbackCalled: self._called,
                ConfigRead: self._read,
                ConfigReadEnded: self._looked,
                ConfigSnapshotTaken: self._looked,
            },
        )
        self.bookkeeping = frozenset({ConfigRead, ConfigReadEnded, ConfigSnapshotTaken})
        self._due: dict[str, tuple[ConfigRead, list[Callback]]] = {}

    def _read(self, event: ConfigRead) -> None:
        """The memory has folded the record already; what the one before left due was missed."""
        self._looked(event)
        self._due[event.member] = (event, list(self.memory.of(event.member).expected))

    def _called(self, event: ConfigCallbackCalled) -> None:
        read, due = self._due.get(event.member, (None, []))
        call = (event.callback, event.connector, event.tasks)
        if call in due:
            due.remove(call)
            return
        if read is None and not self.memory.of(event.member).is_recorded:
            return  # its reads are not recorded
        named = f"{event.callback}({event.connector})"
        self.broken(
            f"{event.member} called {named} without a reason",
            f"{named} came at {STEP}: contradiction.",
            event,
            (f"the last record that {event.member} read, at {STEP}, calls for nothing of the kind.", read),
        )

    def _looked(self, event: ConfigRead | ConfigReadEnded | ConfigSnapshotTaken) -> None:
        read, due = self._due.pop(event.member, (None, []))
        for callback, connector, _ in due:
            self.broken(
                f"{event.member} did not call {callback}({connector})",
                f"the reader had gone on by {STEP} without it: contradiction.",
                event,
                (f"{event.member} read a record at {STEP} that calls for it.", read),
            )


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


class _StartsOnce(ConfigFold):
    needs = ((MemberStarted,),)
    bookkeeping = frozenset({MemberStarted})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberStarted: self._process, ConfigStoreStarted: self._start})
        self._started: dict[str, ConfigStoreStarted] = {}

    def _process(self, event: MemberStarted) -> None:
        """A new process has a new store."""
        self._started.pop(event.member, None)

    def _start(self, event: ConfigStoreStarted) -> None:
        before = self._started.setdefault(event.member, event)
        if before is not event:
            self.broken(
                f"the store of {event.member} starts twice",
                f"it started at {STEP} again: contradiction.",
                event,
                (f"the store of {event.member} had started at {STEP}.", before),
            )


CallbacksFollowReads: Final = Invariant(
    name="config_callbacks_follow_reads",
    family="config_store",
    claim="a started store calls back every configuration and commit of a configured connector that it reads, and no "
    "unchanged target state, no tombstone of one, and no commit of an unknown connector",
    source="KafkaConfigBackingStore.ConsumeCallback",
    premises=("every read of a store is recorded, from its start",),
    exempted_by=(
        ConfigCallbackCalled,
        ConfigRead,
        ConfigStoreStarted,
    ),
    violation=CallbacksFollowReadsViolated,
    fold=_Called,
)
"""C11, C12. The smallest history that breaks it::

    ConfigStoreStarted(member="w0", offset=0)
    ConfigRead(member="w0", offset=0, key="target-state-c", value=None)
    ConfigCallbackCalled(member="w0", callback="onConnectorTargetStateChange", connector="c")
"""
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

StoreStartsOnce: Final = Invariant(
    name="config_store_starts_once",
    family="config_store",
    claim="the config store of a process starts once",
    source="KafkaConfigBackingStore.start; DistributedHerder.startServices",
    premises=("each process records its start",),
    exempted_by=(MemberStarted,),
    violation=StoreStartsOnceViolated,
    fold=_StartsOnce,
)
"""The smallest history that breaks it::

    MemberStarted(member="w0")
    ConfigStoreStarted(member="w0", offset=0)
    ConfigStoreStarted(member="w0", offset=1)
"""

CLAIMS: Final = (CallbacksFollowReads, ReadsInOrder, StoreStartsOnce)
