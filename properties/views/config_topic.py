"""The config topic as its broker recorded it: records, transactions, compactions, and commits of task configs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCompacted,
    ConfigRead,
    ConfigReadEnded,
    ConfigReadStarted,
    ConfigTransactionEnded,
    CoordinatorLost,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MembershipLost,
    MemberStarted,
    ProducerFenced,
    ProducerInitialised,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Handler, Memories, Memory
from rebalance_check.properties.views.config_readers import kind_and_name, task_key
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.workers import Workers

ABORTED: Final = "aborted"

Producer = tuple[str, int]
"""Transactional id and epoch."""


class ConfigTopic(Memory):
    """The topic after the events so far.

    ``records`` has the records by offset, ``last`` those by key, ``isolation`` that of each reader where it is known.
    ``ended`` gives the offset of each record of a transaction the marker that ended it. Below
    ``compacted_to`` compaction decides which records a reader finds, and which connectors are ``out_of_order``.
    """

    def __init__(self) -> None:
        gone: tuple[type[Event], ...] = (MemberCrashed, MemberLeft, WorkerConfigured)
        handlers: dict[type[Event], Handler] = {
            ConfigAppended: self._on_appended,
            ConfigTransactionEnded: self._on_transaction,
            ConfigCompacted: self._on_compacted,
            ConfigReadStarted: self._on_started,
            **dict.fromkeys(gone, self._on_gone),
        }
        super().__init__(handlers)
        self.records: Recent[int, ConfigAppended] = Recent(WAITING)
        self.last: dict[str, ConfigAppended] = {}
        self.end = 0
        self.ended: Recent[int, ConfigTransactionEnded] = Recent(WAITING)
        self.open: dict[Producer, list[int]] = {}
        self.isolation: dict[str, str] = {}
        self.out_of_order: set[str] = set()
        self.compacted_to = 0
        self._commit_before: dict[str, int] = {}

    @property
    def stable_end(self) -> int:
        """The first offset of an open transaction, or the end."""
        return min((offsets[0] for offsets in self.open.values()), default=self.end)

    def _on_appended(self, event: ConfigAppended) -> None:
        if event.key.startswith("commit-") and event.key in self.last:
            self._commit_before[event.key] = self.last[event.key].offset
        self.end = event.offset + 1
        self.records[event.offset] = self.last[event.key] = event
        if event.transactional_id:
            self.open.setdefault((event.transactional_id, event.epoch), []).append(event.offset)

    def _on_transaction(self, event: ConfigTransactionEnded) -> None:
        """All that its producer has appended since the one before."""
        self.end = event.offset + 1
        for offset in self.open.pop((event.transactional_id, event.epoch), ()):
            self.ended[offset] = event

    def _on_started(self, event: ConfigReadStarted) -> None:
        self.isolation[event.member] = event.isolation

    def _on_gone(self, event: MemberEvent) -> None:
        self.isolation.pop(event.member, None)

    def _on_compacted(self, event: ConfigCompacted) -> None:
        """The last records of a connector are all that a later reader finds: in this order they say something else.

        Before it has passed the compacted part, a reader lacks records that are yet to come again.
        """
        self.compacted_to = self.end
        for key, last in self.last.items():
            is_aborted = last.offset in event.removed and last.transactional_id != ""  # some read uncommitted records
            if is_aborted or not _is_useful(last):
                self.out_of_order.add(_connector_of(key))
        names = {_connector_of(key) for key in self.last if key.startswith(("connector-", "commit-", "task-"))}
        self.out_of_order |= {name for name in names if not self._is_in_order(name)}

    def _is_in_order(self, name: str) -> bool:
        """First the connector, then each of its tasks and none besides, then their commit, and none between them."""
        connector, commit = self.last.get(f"connector-{name}"), self.last.get(f"commit-{name}")
        keys = [key for key in self.last if key.startswith("task-") and _connector_of(key) == name]
        if connector is None or commit is None:
            return not keys and commit is None
        tasks = {(task_key(key[5:]) or ("", 0))[1]: self.last[key].offset for key in keys}
        count = min(_count(commit), len(tasks) + 1)  # with more than there are, one is missing in any case
        counted = [tasks.get(number, -1) for number in range(count)]
        begin = max(connector.offset, self._commit_before.get(f"commit-{name}", -1))
        in_order = all(begin < offset < commit.offset for offset in [*counted, *tasks.values()])
        return in_order or connector.value is None


def _connector_of(key: str) -> str:
    """The connector that a record key names."""
    kind, rest = kind_and_name(key)
    return (task_key(rest) or ("", 0))[0] if kind == "task-" else rest


_FIELDS: Final = {"connector-": ("properties", dict), "task-": ("properties", dict), "commit-": ("tasks", int)}


def _is_useful(last: ConfigAppended) -> bool:
    """Whether readers take a record; one that they pass over hides, once compacted, a record that it did not
    replace."""
    kind, _ = kind_and_name(last.key)
    try:
        value = json.loads(last.value or "null")
    except ValueError:
        return False
    if value is None or (kind not in _FIELDS and kind != "target-state-"):
        return True
    if not isinstance(value, dict):
        return False
    if kind == "target-state-":
        return value.get("state.v2", value.get("state")) in ("STARTED", "PAUSED", "STOPPED")
    name, form = _FIELDS[kind]
    return isinstance(value.get(name), form)


def _count(commit: ConfigAppended) -> int:
    """How many tasks a commit counts; an unreadable one counts none."""
    try:
        count: Any = json.loads(commit.value or "null")["tasks"]
    except (ValueError, TypeError, KeyError):
        return 0
    return count if isinstance(count, int) else 0


class ReadBacks(Memory):
    """By writer and connector the task configs that it appended since its last commit, and has not read back.

    ``unread`` is the first of them where the event at hand is a commit, ``is_judged`` says that the reads of its writer
    are recorded.
    """

    def __init__(self) -> None:
        self._unread: dict[tuple[str, str], dict[int, ConfigAppended]] = {}
        self._readers: set[str] = set()
        self.unread: ConfigAppended | None = None
        self.is_judged = False
        handlers: dict[type[Event], Handler] = {
            ConfigAppended: self._appended,
            ConfigRead: self._read,
            ConfigReadEnded: self._ended,
            ConfigCompacted: self._compacted,
        }
        super().__init__(handlers)

    def _appended(self, event: ConfigAppended) -> None:
        kind, rest = kind_and_name(event.key)
        named = task_key(rest) if kind == "task-" else None
        if named is not None:
            self._unread.setdefault((event.writer, named[0]), {})[event.offset] = event
        elif kind == "commit-":
            self.unread = next(iter(self._unread.pop((event.writer, rest), {}).values()), None)
            self.is_judged = event.writer in self._readers

    def _read(self, event: ConfigRead) -> None:
        self._readers.add(event.member)
        kind, rest = kind_and_name(event.key)
        named = task_key(rest) if kind == "task-" else None
        if named is not None:
            self._unread.get((event.member, named[0]), {}).pop(event.offset, None)

    def _ended(self, event: ConfigReadEnded) -> None:
        """A transaction that was aborted is passed over by a read to the end."""
        for (member, connector), unread in self._unread.items():
            if member == event.member and event.outcome == "ok":
                plain = {offset: sent for offset, sent in unread.items() if not sent.transactional_id}
                self._unread[member, connector] = plain

    def _compacted(self, event: ConfigCompacted) -> None:
        """No worker can read back a removed record: another leader has written it again."""
        for unread in self._unread.values():
            for offset in event.removed:
                unread.pop(offset, None)


@dataclass(slots=True, eq=False)
class Commit:
    """The task configs of one connector that are in force, or were written since.

    ``config`` is the connector's last record, ``applied`` that of the last commit ``event``, and ``counted`` the last
    task count record. ``removed`` is the record that deleted the connector before. ``is_known`` says that no worker was
    away since that commit.
    """

    config: ConfigAppended | None = None
    applied: str | None = None
    event: ConfigAppended | None = None
    tasks: dict[str, str | None] = field(default_factory=dict)
    pending: dict[str, str | None] = field(default_factory=dict)
    counted: ConfigAppended | None = None
    removed: ConfigAppended | None = None
    is_known: bool = True


class Commits(Memory):
    """By connector its last commit; ``key`` is the last session key.

    ``before`` is the commit that the event at hand repeats, if any; ``was_known``: no worker was away since.
    """

    def __init__(self) -> None:
        self.of: dict[str, Commit] = {}
        self.before: ConfigAppended | None = None
        self.key: ConfigAppended | None = None
        self.was_known = False
        away: tuple[type[Event], ...] = (CoordinatorLost, MemberPaused, MemberStarted, MembershipLost)
        super().__init__({**dict.fromkeys(away, self._away), ConfigAppended: self._appended})

    def _away(self, _event: Event) -> None:
        """Its herder may go on with its earlier state."""
        for known in self.of.values():
            known.is_known = False

    def _appended(self, event: ConfigAppended) -> None:
        self.before = None
        kind, rest = kind_and_name(event.key)
        named = task_key(rest) if kind == "task-" else None
        if kind == "connector-" and event.value is None:
            self.of[rest] = Commit(removed=event)
        elif kind == "connector-":
            self.of.setdefault(rest, Commit()).config = event
        elif named is not None:
            self.of.setdefault(named[0], Commit()).pending[event.key] = event.value
        elif event.key == "session-key":
            self.key = event
        elif kind == "tasks-fencing-":
            self.of.setdefault(rest, Commit()).counted = event
        elif kind == "commit-":
            self._commit(self.of.setdefault(rest, Commit()), event)

    def _commit(self, known: Commit, event: ConfigAppended) -> None:
        config = None if known.config is None else known.config.value
        last = known.event
        if last is not None and (last.value, known.tasks, known.applied) == (event.value, known.pending, config):
            self.before, self.was_known = last, known.is_known
        known.is_known = True
        known.event, known.applied, known.tasks, known.pending = event, config, known.pending, {}


class Producers(Memory):
    """The producers of source tasks by transactional id, from initTransactions until they are fenced or replaced."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.open: dict[str, ProducerInitialised] = {}
        super().__init__({ProducerInitialised: self._initialised, ProducerFenced: self._fenced})

    @property
    def built_on(self) -> tuple[Memory, ...]:
        """The workers that run the tasks."""
        return (self.workers,)

    @classmethod
    def begin(cls, memories: Memories) -> Producers:
        """Built on the workers."""
        return cls(Workers.among(memories))

    def _initialised(self, event: ProducerInitialised) -> None:
        """The one before with this id can write no more."""
        if event.work:
            self.open[event.transactional_id] = event

    def _fenced(self, event: ProducerFenced) -> None:
        known = self.open.get(event.transactional_id)
        if known is not None and known.epoch <= event.epoch:
            del self.open[event.transactional_id]
