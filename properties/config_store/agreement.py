"""C15: two workers that have read as far hold the same configurations, whatever compaction left for one of them."""

from __future__ import annotations

import json
from typing import Any, Final

from rebalance_check.model.vocabulary.events import ConfigAppended, ConfigCompacted, ConfigSnapshotTaken
from rebalance_check.properties.config_store.readers import (
    ConfigFold,
    ConfigStoreViolated,
    kind_and_name,
    task_key,
    task_of,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP


class ReadersAgreeViolated(ConfigStoreViolated):
    """C15: two snapshots of one offset list different connectors, target states or tasks."""


class _Agree(ConfigFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {ConfigSnapshotTaken: self._taken, ConfigAppended: self._appended, ConfigCompacted: self._compacted},
        )
        self.bookkeeping = frozenset({ConfigAppended, ConfigCompacted})
        self.compared = 0
        self._of_offset: dict[int, ConfigSnapshotTaken] = {}
        self._last: dict[str, ConfigAppended] = {}
        self._commit_before: dict[str, int] = {}
        self._exempt: set[str] = set()
        self._end = 0
        self._compacted_to = 0

    def _appended(self, event: ConfigAppended) -> None:
        if event.key.startswith("commit-") and event.key in self._last:
            self._commit_before[event.key] = self._last[event.key].offset
        self._last[event.key] = event
        self._end = event.offset + 1

    def _compacted(self, event: ConfigCompacted) -> None:
        """The last records of a connector are all that a later reader finds: in this order they say something else.

        Before it has passed what was compacted, a reader lacks what is yet to come again.
        """
        self._compacted_to = self._end
        for key, last in self._last.items():
            is_aborted = last.offset in event.removed and last.transactional_id != ""  # some read what is not committed
            if is_aborted or not _is_useful(last):
                self._exempt.add(_connector_of(key))
        names = {_connector_of(key) for key in self._last if key.startswith(("connector-", "commit-", "task-"))}
        self._exempt |= {name for name in names if not self._is_in_order(name)}

    def _is_in_order(self, name: str) -> bool:
        """First the connector, then each of its tasks and none besides, then their commit, and none between them."""
        connector, commit = self._last.get(f"connector-{name}"), self._last.get(f"commit-{name}")
        keys = [key for key in self._last if key.startswith("task-") and _connector_of(key) == name]
        if connector is None or commit is None:
            return not keys and commit is None
        tasks = {(task_key(key[5:]) or ("", 0))[1]: self._last[key].offset for key in keys}
        count = min(_count(commit), len(tasks) + 1)  # with more than there are, one is missing in any case
        counted = [tasks.get(number, -1) for number in range(count)]
        begin = max(connector.offset, self._commit_before.get(f"commit-{name}", -1))
        in_order = all(begin < offset < commit.offset for offset in [*counted, *tasks.values()])
        return in_order or connector.value is None

    def _taken(self, event: ConfigSnapshotTaken) -> None:
        if event.offset < self._compacted_to:
            return
        other = self._of_offset.setdefault(event.offset, event)
        if other is event:
            return
        self.compared = (self.compared or 0) + 1
        for what, mine, theirs in _differences(event, other):
            name = task_of(what)[0] if what in {*event.tasks, *other.tasks} else what
            if name in self._exempt:
                continue
            self.broken(
                f"{event.member} and {other.member} have read as far, and differ about {what}",
                f"{event.member} holds {mine} at {STEP}: contradiction.",
                event,
                (f"{other.member} holds {theirs} for {what} at offset {other.offset} at {STEP}.", other),
            )


def _connector_of(key: str) -> str:
    """The connector that a record key names."""
    kind, rest = kind_and_name(key)
    return (task_key(rest) or ("", 0))[0] if kind == "task-" else rest


_FIELDS: Final = {"connector-": ("properties", dict), "task-": ("properties", dict), "commit-": ("tasks", int)}


def _is_useful(last: ConfigAppended) -> bool:
    """Whether readers take a record; one that they pass over hides, once compacted, what it did not replace."""
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
    """How many tasks a commit counts; what cannot be read counts none."""
    try:
        count = json.loads(commit.value or "null")["tasks"]
    except (ValueError, TypeError, KeyError):
        return 0
    return count if isinstance(count, int) else 0


def _differences(mine: ConfigSnapshotTaken, theirs: ConfigSnapshotTaken) -> list[tuple[str, Any, Any]]:
    """What two snapshots say differently of configured connectors and of the tasks to run."""
    found = []
    for first, second in zip(_views(mine), _views(theirs), strict=True):
        if first == second:
            continue
        for what in sorted(first.keys() | second.keys()):
            if first.get(what) != second.get(what):
                found.append((what, first.get(what, "nothing"), second.get(what, "nothing")))
    return found


def _views(taken: ConfigSnapshotTaken) -> list[dict[str, Any]]:
    configured = dict(taken.connectors)
    configs = dict(taken.task_configs)
    return [
        configured,
        {name: state for name, state in taken.target_states if name in configured},
        {work: configs.get(work, "no configuration") for work in taken.tasks},
    ]


ReadersAgree: Final = Invariant(
    name="snapshots_agree",
    family="config_store",
    claim="snapshots of the same offset hold the same connectors, target states and tasks, however much of the topic "
    "compaction had removed before a worker read it",
    source="KAFKA-17719; ClusterConfigState.offset, by which workers agree (CONFIG_MISMATCH)",
    premises=("where compactions are recorded, connectors whose last records it left out of order are excused",),
    exempted_by=(ConfigAppended, ConfigCompacted),
    violation=ReadersAgreeViolated,
    fold=_Agree,
)
"""C15. Kafka's own store breaks it: a connector that was reconfigured while it was paused lies behind the commit of its
tasks, and a worker that reads the compacted topic discards them (KAFKA-17719). The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=4, connectors=(("c", "{}"),), tasks=("c-0",), task_configs=(("c-0", "{}"),))
    ConfigSnapshotTaken(member="w1", offset=4, connectors=(("c", "{}"),))
"""

CLAIMS: Final = (ReadersAgree,)
