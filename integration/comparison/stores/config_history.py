"""A lockstep run of a config store as a history, which the claims about config stores judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rebalance_check.impl.connect.config.values import ConfigRecord
from rebalance_check.impl.runtime.recorder import LastNumbers, Recorder
from rebalance_check.integration.comparison.stores.sequence import StepSequence, Stores
from rebalance_check.model.vocabulary.events import (
    ConfigRead,
    ConfigSnapshotTaken,
    ConfigStoreStarted,
    Event,
    MemberStarted,
    RunEnded,
    RunStarted,
)
from rebalance_check.properties.views.config_readers import text_of

Log = Sequence[tuple[int, ConfigRecord]]
"""Records at their offsets."""

_GROUP: Final = "connect"


def restarts(stores: Stores, logs: Mapping[str, Log]) -> list[Event]:
    """The history of workers that start one after the other, each on the topic's content by then.

    ``logs`` is by worker; the records of each are plain JSON.
    """
    events: list[Event] = []
    listener = LastNumbers(events.append)
    harness = Recorder(_GROUP, "harness", _no_time, listener)
    harness.emit(RunStarted(subject=stores.name, seed=0))
    for member, log in logs.items():
        recorder = Recorder(_GROUP, member, _no_time, listener)
        for event in _start(stores, member, log):
            recorder.emit(event)
    harness.emit(RunEnded(pending=(), last=listener.attested))  # each has read all of the topic
    return events


def _start(stores: Stores, member: str, log: Log) -> Iterator[Event]:
    steps = tuple({"op": "append", "offset": offset, **_step(record)} for offset, record in log)
    [observations] = stores.perform_all([StepSequence((*steps, {"op": "start"}))])
    yield MemberStarted(member=member)
    for offset, record in log:
        yield ConfigRead(member=member, offset=offset, **_step(record))
    state = observations[-1].state
    yield ConfigStoreStarted(member=member, offset=state["offset"])
    yield snapshot_of(member, state)


def _step(record: ConfigRecord) -> dict[str, Any]:
    return {"key": record.key, "value": None if record.value is None else record.value.decode()}


def snapshot_of(member: str, state: Mapping[str, Any]) -> ConfigSnapshotTaken:
    """A store's view as a snapshot event."""
    return ConfigSnapshotTaken(
        member=member,
        offset=state["offset"],
        connectors=_texts(state["connectorConfigs"]),
        target_states=tuple(sorted(state["targetStates"].items())),
        task_counts=tuple(sorted(state["connectorTaskCounts"].items())),
        tasks=tuple(task for _, tasks in sorted(state["tasks()"].items()) for task in tasks),
        task_configs=_texts(state["taskConfigs"]),
        inconsistent=tuple(state["inconsistent"]),
        generations=tuple(sorted(state["generations"].items())),
        count_records=tuple(sorted(state["taskCountRecords"].items())),
        pending_fencing=tuple(state["pendingFencing"]),
        applied=_texts(state["applied"]),
    )


def _texts(configs: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, text_of(config)) for name, config in sorted(configs.items()))


def _no_time() -> int:
    return 0
