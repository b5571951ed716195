"""Stores of a settled cluster next to readers that begin now: what a store holds is a function of its topic.

Left out is what compaction takes from a new reader: of the config topic how many commits there were, and in which order
connectors, tasks and commits stood (KAFKA-17719); of the status topic what a stale UNASSIGNED did not replace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rebalance_check.impl.connect.config.reading import ConfigState, read_record
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot, ConnectorState
from rebalance_check.impl.connect.status.cache import StatusCache
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey, ValueFormat, read_key
from rebalance_check.impl.simulator.connect.process import ConnectProcess
from rebalance_check.impl.simulator.connect.shared import SharedCluster
from rebalance_check.model.vocabulary.events import RestingStateRead

NEW_READER: Final = "new reader"

State = Mapping[str, str]
"""The text of each part of what a store holds."""


def read_stores(
    shared: SharedCluster, processes: list[ConnectProcess], *, committed: bool
) -> Iterator[RestingStateRead]:
    """What new readers of both topics hold, then what the stores of the workers that run do."""
    known, caches = _new_config_state(shared, committed=committed), _new_cache(shared)
    removed = _removed(shared)
    yield _read(NEW_READER, "config store", _configs(shared, known.snapshot(), known.deferred), is_new=True)
    yield _read(NEW_READER, "status store", _statuses(shared, caches, removed), is_new=True)
    for process in processes:
        if process.worker is not None:
            configs, statuses = process.worker.configs, process.worker.statuses
            yield _read(process.name, "config store", _configs(shared, configs.known(), configs.deferred))
            yield _read(process.name, "status store", _statuses(shared, statuses.cache, removed))


def _read(subject: str, role: str, state: State, *, is_new: bool = False) -> RestingStateRead:
    return RestingStateRead(subject=subject, role=role, state=tuple(state.items()), is_new=is_new)


def _new_config_state(shared: SharedCluster, *, committed: bool) -> ConfigState:
    state = ConfigState()
    for record in shared.config_log.readable(committed=committed):
        read_record(state, record.offset, record.key, record.value)
    return state


def _configs(shared: SharedCluster, taken: ConfigSnapshot, deferred: Mapping[str, Mapping[int, object]]) -> State:
    """Where the topic was compacted only what one record alone says."""
    state = {
        "session key": repr(taken.session_key),
        "connectors": _each({name: known.config for name, known in taken.known.items()}),
        "target states": _each({name: taken.target_state(name) for name in taken.connectors()}),
    }
    if not shared.configs_compacted:
        state["offset"] = str(taken.offset)
        state["all"] = _each({name: _whole(known) for name, known in taken.known.items()})
        state["deferred"] = _each({name: dict(sorted(tasks.items())) for name, tasks in deferred.items() if tasks})
    return state


def _whole(known: ConnectorState) -> str:
    tasks = dict(sorted(known.task_configs.items()))
    return repr((known.config, known.target_state, known.task_count, tasks, known.applied, known.generation,
                 known.task_count_record, known.pending_fencing, known.inconsistent))  # fmt: skip


def _each(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}: {values[name]}" for name in sorted(values) if values[name] is not None) or "none"


# ------------------------------------------------------------------------------------------------ statuses


def _new_cache(shared: SharedCluster) -> StatusCache:
    cache = StatusCache(ValueFormat.KAFKA_4_3)
    for records in shared.status_log.partitions:
        for record in records:
            cache.read(record.key, record.value)
    return cache


def _removed(shared: SharedCluster) -> frozenset[str]:
    """The connectors whose status was removed: that of a task may stand before or behind, in another partition."""
    keys = [read_key(record.key) for records in shared.status_log.partitions for record in records
            if record.value is None]  # fmt: skip
    return frozenset(key.connector for key in keys if isinstance(key, ConnectorKey))


def _statuses(shared: SharedCluster, cache: StatusCache, removed: frozenset[str]) -> State:
    """What was only written counts for nothing."""
    known = [(key, entry.value) for key, entry in cache.entries() if entry.value is not None]
    state = {
        "connectors": _each({str(key): value for key, value in known if isinstance(key, ConnectorKey)}),
        "topics": _each({str(key): value for key, value in cache.all_topics()}),
    }
    if not shared.statuses_compacted:
        state["tasks"] = _each(
            {str(key): value for key, value in known if isinstance(key, TaskKey) and key.connector not in removed}
        )
    return state
