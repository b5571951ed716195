"""The config topic as its broker recorded it: records, compactions, and commits of task configs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCompacted,
    ConfigTransactionEnded,
    CoordinatorLost,
    Event,
    MemberPaused,
    MembershipLost,
    MemberStarted,
)
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.config_readers import kind_and_name, state_in, task_key, value_of
from rebalance_check.properties.views.worker import connector_of


class ConfigTopic(Memory):
    """The topic after the events so far.

    ``last`` has the records by key. Below ``compacted_to`` compaction decides which records a reader finds, and which
    connectors are ``out_of_order``.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                ConfigAppended: self._on_appended,
                ConfigTransactionEnded: self._on_marker,
                ConfigCompacted: self._on_compacted,
            }
        )
        self.last: dict[str, ConfigAppended] = {}
        self.out_of_order: set[str] = set()
        self.compacted_to = 0
        self._end = 0
        self._commit_before: dict[str, int] = {}

    def _on_appended(self, event: ConfigAppended) -> None:
        if event.key.startswith("commit-") and event.key in self.last:
            self._commit_before[event.key] = self.last[event.key].offset
        self._end = event.offset + 1
        self.last[event.key] = event

    def _on_marker(self, event: ConfigTransactionEnded) -> None:
        self._end = event.offset + 1

    def _on_compacted(self, event: ConfigCompacted) -> None:
        """The last records of a connector are all that a later reader finds: in this order they say something else.

        Before it has passed the compacted part, a reader lacks records that are yet to come again.
        """
        self.compacted_to = self._end
        for key, last in self.last.items():
            is_aborted = last.offset in event.removed and last.transactional_id != ""  # some read uncommitted records
            name = _connector_of(key)
            if is_aborted or not _is_useful(last) or not self._is_in_order(name):
                self.out_of_order.add(name)

    def _is_in_order(self, name: str) -> bool:
        """First the connector, then each of its tasks and none besides, then their commit, and none between them."""
        connector, commit = self.last.get(f"connector-{name}"), self.last.get(f"commit-{name}")
        keys = [key for key in self.last if key.startswith("task-") and _connector_of(key) == name]
        if connector is None or commit is None:
            return not keys and commit is None
        tasks = {(task_key(key[5:]) or ("", 0))[1]: self.last[key].offset for key in keys}
        said = value_of(commit.value)
        count = said.get("tasks") if isinstance(said, dict) else 0
        counted = min(count, len(tasks) + 1) if isinstance(count, int) else 0  # one more than there are is missing
        begin = max(connector.offset, self._commit_before.get(f"commit-{name}", -1))
        offsets = [*(tasks.get(number, -1) for number in range(counted)), *tasks.values()]
        return connector.value is None or all(begin < offset < commit.offset for offset in offsets)


def _connector_of(key: str) -> str:
    """The connector that a record key names."""
    kind, rest = kind_and_name(key)
    return (task_key(rest) or ("", 0))[0] if kind == "task-" else rest


_FIELDS: Final = {"connector-": ("properties", dict), "task-": ("properties", dict), "commit-": ("tasks", int)}


def _is_useful(last: ConfigAppended) -> bool:
    """Whether readers take a record; one that they pass over hides, once compacted, a record that it did not
    replace."""
    kind, _ = kind_and_name(last.key)
    value = value_of(last.value)
    if last.value is None:
        return True
    if kind == "target-state-":
        return state_in(value) in ("STARTED", "PAUSED", "STOPPED")
    name, form = _FIELDS.get(kind, ("", object))
    return kind not in _FIELDS or (isinstance(value, dict) and isinstance(value.get(name), form))


SHOWN: Final = {"STARTED": "RUNNING", "PAUSED": "PAUSED", "STOPPED": "STOPPED"}
"""By target state, the status of a connector or task that has reached it."""


@dataclass(slots=True, eq=False)
class Commit:
    """The task configs of one connector that are in force, or were written since.

    ``event`` is the last commit. ``config`` is the connector's last record, ``applied`` its record at that commit,
    ``target`` its target state ("" where no record says it: so after its owner may have overlooked a deletion), and
    ``counted`` the last task count record. ``removed`` is the record that deleted the connector before. ``is_known``
    says that no worker was away since the commit.
    """

    config: ConfigAppended | None = None
    applied: str | None = None
    event: ConfigAppended | None = None
    tasks: dict[str, str | None] = field(default_factory=dict)
    pending: dict[str, str | None] = field(default_factory=dict)
    target: str = ""
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

    def target(self, work: str) -> str:
        """The target state of a connector, or of a task's connector; "" where no record says it."""
        known = self.of.get(connector_of(work)) or self.of.get(work)
        return known.target if known is not None else ""

    def _away(self, _event: Event) -> None:
        """Its herder may go on with its earlier state."""
        for known in self.of.values():
            known.is_known = False

    def _appended(self, event: ConfigAppended) -> None:
        self.before = None
        kind, rest = kind_and_name(event.key)
        named = task_key(rest) if kind == "task-" else None
        if event.key == "session-key":
            self.key = event
        known = self.of.setdefault(named[0] if named is not None else rest, Commit())
        if kind == "connector-" and event.value is None:
            self.of[rest] = Commit(removed=event, target=known.target)
        elif kind == "connector-":
            known.config = event
            if known.removed is None:
                known.target = known.target or "STARTED"
        elif kind == "target-state-":
            known.target = _state_in(event.value) if event.value is not None or known.removed is None else ""
        elif named is not None:
            known.pending[event.key] = event.value
        elif kind == "tasks-fencing-":
            known.counted = event
        elif kind == "commit-":
            self._commit(known, event)

    def _commit(self, known: Commit, event: ConfigAppended) -> None:
        config = None if known.config is None else known.config.value
        last = known.event
        if last is not None and (last.value, known.tasks, known.applied) == (event.value, known.pending, config):
            self.before, self.was_known = last, known.is_known
        known.is_known = True
        known.event, known.applied, known.tasks, known.pending = event, config, known.pending, {}


def _state_in(value: str | None) -> str:
    """The state that a record sets; a tombstone sets back to STARTED."""
    state = "STARTED" if value is None else state_in(value_of(value))
    return state if state in SHOWN else ""
