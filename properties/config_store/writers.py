"""C14 and C17: what each worker may append to the config topic, and in which order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCompacted,
    ConfigRead,
    ConfigReadEnded,
    ProducerInitialised,
)
from rebalance_check.properties.config_store.readers import ConfigFold, ConfigStoreViolated, kind_and_name, task_key
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP

_PLAIN: Final = ("target-state-", "logger-cluster-")
"""What any worker may append, with its plain producer."""


class CommitFollowsReadBackViolated(ConfigStoreViolated):
    """C14: task configurations were committed before their writer had read them back."""


class FencedLeaderAppendsViolated(ConfigStoreViolated):
    """C17: a record was appended by a producer that a younger one had fenced, or past it."""


@dataclass(slots=True)
class _Writing:
    """What a worker appended of a connector's tasks since its last commit, and has not read back."""

    unread: dict[int, ConfigAppended] = field(default_factory=dict)


class _ReadBack(ConfigFold):
    needs = ((ConfigRead,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConfigAppended: self._appended,
                ConfigRead: self._read,
                ConfigReadEnded: self._ended,
                ConfigCompacted: self._compacted,
            },
        )
        self.bookkeeping = frozenset({ConfigRead, ConfigReadEnded, ConfigCompacted})
        self._writing: dict[tuple[str, str], _Writing] = {}
        self._readers: set[str] = set()

    def _read(self, event: ConfigRead) -> None:
        self._readers.add(event.member)
        kind, rest = kind_and_name(event.key)
        named = task_key(rest) if kind == "task-" else None
        writing = self._writing.get((event.member, named[0])) if named else None
        if writing is not None:
            writing.unread.pop(event.offset, None)

    def _compacted(self, event: ConfigCompacted) -> None:
        """What is gone cannot be read back: another leader has written it again."""
        for writing in self._writing.values():
            for offset in event.removed:
                writing.unread.pop(offset, None)

    def _ended(self, event: ConfigReadEnded) -> None:
        """A transaction that was aborted is passed over by a read to the end."""
        for (member, _), writing in self._writing.items():
            if member == event.member and event.outcome == "ok":
                plain = {offset: sent for offset, sent in writing.unread.items() if not sent.transactional_id}
                writing.unread = plain

    def _appended(self, event: ConfigAppended) -> None:
        kind, rest = kind_and_name(event.key)
        named = task_key(rest) if kind == "task-" else None
        if named is not None:
            self._writing.setdefault((event.writer, named[0]), _Writing()).unread[event.offset] = event
        if kind == "commit-":
            writing = self._writing.pop((event.writer, rest), _Writing())
            self._judge(event, writing)

    def _judge(self, event: ConfigAppended, writing: _Writing) -> None:
        """A writer whose reads are not recorded is not judged."""
        if not writing.unread or event.writer not in self._readers:
            return
        first = next(iter(writing.unread.values()))
        self.broken(
            f"{event.writer} committed {event.key.removeprefix('commit-')} before it had read back {first.key}",
            f"the commit was appended at {STEP}, and {event.writer} had not read {first.key} by then: contradiction.",
            event,
            (f"{event.writer} appended {first.key} at {STEP}.", first),
        )


class _Fenced(ConfigFold):
    needs = ((ProducerInitialised,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConfigAppended: self._appended, ProducerInitialised: self._initialised})
        self.bookkeeping = frozenset({ProducerInitialised})
        self._youngest: ProducerInitialised | None = None

    def _initialised(self, event: ProducerInitialised) -> None:
        if not event.work:
            self._youngest = event

    def _appended(self, event: ConfigAppended) -> None:
        """Target states and levels of loggers are no privilege."""
        youngest = self._youngest
        if youngest is None or (kind_and_name(event.key)[0] in _PLAIN and not event.transactional_id):
            return
        if event.transactional_id == youngest.transactional_id and event.epoch >= youngest.epoch:
            return
        how = f"with epoch {event.epoch}" if event.transactional_id else "with a producer that nothing can fence"
        self.broken(
            f"{event.writer} appended {event.key} {how}",
            f"{event.key} was appended at {STEP} {how}: contradiction.",
            event,
            (f"{youngest.member} got epoch {youngest.epoch} of {youngest.transactional_id} at {STEP}.", youngest),
        )


CommitFollowsReadBack: Final = Invariant(
    name="commit_follows_read_back",
    family="config_store",
    claim="a worker appends the commit of task configurations only after it has read back every one of them",
    source="KafkaConfigBackingStore.putTaskConfigs",
    premises=("the reads of a writer are recorded",),
    exempted_by=(ConfigRead, ConfigCompacted),
    violation=CommitFollowsReadBackViolated,
    fold=_ReadBack,
)
"""C14. The smallest history that breaks it::

    ConfigRead(member="w0", offset=0, key="connector-c", value='{"properties":{}}')
    ConfigAppended(writer="w0", offset=1, key="task-c-0", value='{"properties":{}}')
    ConfigAppended(writer="w0", offset=2, key="commit-c", value='{"tasks":1}')
"""
FencedLeaderAppendsNothing: Final = Invariant(
    name="fenced_leader_appends_nothing",
    family="config_store",
    claim="where leaders write with a transactional producer, nothing privileged is appended but by the youngest one",
    source="KIP-618; KafkaConfigBackingStore.claimWritePrivileges",
    violation=FencedLeaderAppendsViolated,
    fold=_Fenced,
)
"""C17. The smallest history that breaks it::

    ProducerInitialised(member="w1", transactional_id="connect-cluster-g", epoch=1)
    ConfigAppended(writer="w0", offset=5, key="commit-c", value="{}", transactional_id="connect-cluster-g", epoch=0)
"""

CLAIMS: Final = (CommitFollowsReadBack, FencedLeaderAppendsNothing)
