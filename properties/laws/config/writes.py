"""Config writes: which records a worker may append to the config topic, when, and in which form."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigCompacted,
    ConfigRead,
    ConfigSnapshotTaken,
    ConfigStoreStarted,
    ConnectAssignmentReceived,
    Event,
    RejoinRequested,
    WorkerClaimed,
    WorkerConfigured,
)
from rebalance_check.properties.engines import (
    CHECKED,
    Excused,
    Finding,
    Findings,
    broken,
    form,
)
from rebalance_check.properties.engines.completion import AT_REST
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.config_readers import ConfigReaders, kind_and_name, task_key
from rebalance_check.properties.views.config_topic import Commits, ReadBacks
from rebalance_check.properties.views.work_statuses import Targets
from rebalance_check.properties.views.worker import SHOWS_WHAT_RUNS
from rebalance_check.properties.views.workers import Workers

SESSION_KEY: Final = "session-key"

PUBLISHING_MS: Final = 30_000
"""Task configs reach the topic in this time after a worker generated them (READ_WRITE_TOTAL_TIMEOUT_MS)."""

# ---------------------------------------------------------------------------------------------- order of writes


def _read_back(event: ConfigAppended, read_backs: ReadBacks) -> Findings:
    if not event.key.startswith("commit-") or not read_backs.is_judged:
        return None
    first = read_backs.unread
    if first is None:
        return CHECKED
    return broken(
        f"{event.writer} committed {event.key.removeprefix('commit-')} before it had read back {first.key}",
        (f"{event.writer} appended {first.key} at {STEP}.", first),
        (f"the commit was appended at {STEP}, and {event.writer} had not read {first.key} by then: contradiction.",
         event),
    )  # fmt: skip


CommitFollowsReadBack: Final = Invariant(
    name="commit_follows_read_back",
    family="config",
    claim="a worker appends the commit of task configurations only after it has read back every one of them",
    source="KafkaConfigBackingStore.putTaskConfigs",
    premises=("the reads of a writer are recorded",),
    exempted_by=(ConfigRead, ConfigCompacted),
    fold=form({ConfigAppended: _read_back}, views=(ReadBacks,), needs=((ConfigRead,),)),
    breaks="""
        ConfigRead(member="w0", offset=0, key="connector-c", value='{"properties":{}}')
        ConfigAppended(writer="w0", offset=1, key="task-c-0", value='{"properties":{}}')
        ConfigAppended(writer="w0", offset=2, key="commit-c", value='{"tasks":1}')
    """,
    holds="""
        ConfigAppended(writer="w0", offset=1, key="task-c-0", value='{"properties":{}}')
        ConfigRead(member="w0", offset=1, key="task-c-0", value='{"properties":{}}')
        ConfigAppended(writer="w0", offset=2, key="commit-c", value='{"tasks":1}')
    """,
)


def _key_written(event: ConfigAppended, workers: Workers) -> Findings:
    """Leadership is that of the last assignment, by whole member ids."""
    worker = workers.workers.get(event.writer)
    if event.key != SESSION_KEY or worker is None or worker.received is None:
        return None
    if workers.with_id(worker.received.leader) is worker:
        return CHECKED
    return broken(
        f"{event.writer} wrote a session key and does not lead",
        (f"{worker.received.leader} leads since {STEP}.", worker.received),
        (f"{event.writer} wrote a session key at {STEP}: contradiction.", event),
    )


OnlyTheLeaderRotatesKeys: Final = Invariant(
    name="only_the_leader_rotates_keys",
    family="config",
    claim="only the worker that its last assignment names as the leader writes session keys",
    source="KIP-507; DistributedHerder.checkForKeyRotation; KAFKA-12252",
    premises=("the writer of a record is known by the name of its worker",),
    exempted_by=(ConnectAssignmentReceived,),
    evidence=Evidence.CONCERNED,
    fold=form({ConfigAppended: _key_written}, views=(Workers,), needs=((ConnectAssignmentReceived,),)),
    breaks="""
        ConnectAssignmentReceived(member="w0", generation=2, member_id="b", protocol="sessioned", leader="a",
                                  leader_url="u", config_offset=3)
        ConfigAppended(writer="w0", offset=3, key="session-key", value="{}")
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=2, member_id="a", protocol="sessioned", leader="a",
                                  leader_url="u", config_offset=3)
        ConfigAppended(writer="w0", offset=3, key="session-key", value="{}")
    """,
)

# ---------------------------------------------------------------------------------------------- task configs


def _changes_something(event: ConfigAppended, commits: Commits, _targets: Targets, workers: Workers) -> Findings:
    if not event.key.startswith("commit-"):
        return None
    before = commits.before
    if before is None:
        return CHECKED
    if before.transactional_id:
        return Excused("the transaction of the commit before may have been aborted")
    if not commits.of[event.key.removeprefix("commit-")].tasks:
        return Excused("a stop of the connector commits that it has no tasks")
    if not commits.was_known or not _know(workers, before) or event.time_ms - before.time_ms < PUBLISHING_MS:
        return Excused("the task configs may have been generated before their worker knew the commit before")
    return broken(
        f"{event.writer} published the task configs of {event.key.removeprefix('commit-')}, and nothing had changed",
        (f"{before.writer} committed them at {STEP};", before),
        (f"{event.writer} committed the same at {STEP}, for the same configuration of the connector: contradiction.",
         event),
    )  # fmt: skip


def _know(workers: Workers, commit: ConfigAppended) -> bool:
    """Whether all workers have taken snapshots that hold a commit."""
    running = [worker for worker in workers.each() if worker.received is not None]
    return bool(running) and all(
        worker.snapshot is not None and worker.snapshot.offset > commit.offset for worker in running
    )


def _all_published(event: Event, commits: Commits, targets: Targets, workers: Workers) -> Iterator[Finding]:
    """At rest each connector that runs has a commit of the tasks of its last configuration."""
    if not workers.have_converged:
        return
    running = {work: worker for worker in workers.each() for work in worker.running}
    for name, commit in sorted(commits.of.items()):
        started, config = running.get(name), commit.config
        if started is None or config is None or targets.of(name) != "STARTED":
            continue
        if commit.applied == config.value:
            yield CHECKED
            continue
        if commit.removed is not None and started.running[name].time_ms <= commit.removed.time_ms:
            yield Excused("a connector that is deleted and created between two rounds goes on as it was")
            continue
        yield broken(
            f"the configuration of {name} changed, and no task configs were published for it",
            (f"{config.writer} wrote the configuration at {STEP};", config),
            (f"{started.name} runs {name} since {STEP};", started.running[name]),
            (f"no commit followed up to {STEP}, when the group had converged: contradiction.", event),
        )


ChangedTaskConfigsArePublished: Final = Invariant(
    name="changed_task_configs_are_published",
    family="config",
    claim="task configs are committed exactly where they, their number, or the connector's configuration differ from "
    "those of the last commit: no commit repeats the one before, and at rest each connector that runs has one",
    source="AbstractHerder.taskConfigsChanged; KAFKA-3459, KAFKA-9228, KAFKA-16837",
    premises=(
        f"a commit is needless {PUBLISHING_MS // 1000} s after the one that it repeats, of which all workers know by "
        "snapshots, none of which was away since: a leader writes task configs after a worker generated them",
        "a connector that is paused, stopped or failed generates no task configs, nor does one that is deleted and "
        "created while its worker runs it: no round between the two stops it",
        "at rest: all workers are in one generation, without error and delay, and know no newer configs",
    ),
    exempted_by=(
        *SHOWS_WHAT_RUNS, ConfigAppended, ConfigSnapshotTaken, ConnectAssignmentReceived, RejoinRequested,
        WorkerClaimed,
    ),
    fold=form(
        {ConfigAppended: _changes_something, **dict.fromkeys(AT_REST, _all_published)},
        views=(Commits, Targets, Workers),
        needs=((ConfigAppended,), (ConnectAssignmentReceived,)),
    ),
    breaks="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                                  config_offset=1, assigned=("c",))
        ConnectorStarted(member="w0", generation=1, connector="c")
        ConfigAppended(writer="w0", offset=0, key="connector-c", value='{"properties":{}}')
        RunSettled()
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                                  config_offset=1, assigned=("c",))
        ConnectorStarted(member="w0", generation=1, connector="c")
        ConfigAppended(writer="w0", offset=0, key="connector-c", value='{"properties":{}}')
        ConfigAppended(writer="w0", offset=1, key="commit-c", value='{"tasks":0}')
        RunSettled()
    """,
    excuses="""
        ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                                  config_offset=1, assigned=("c",))
        ConfigAppended(writer="w0", offset=1, key="commit-c", value='{"tasks":0}')
        ConfigAppended(writer="w0", offset=2, key="commit-c", value='{"tasks":0}')
        ConnectorStarted(member="w0", generation=1, connector="c")
        ConfigAppended(writer="w0", offset=3, key="connector-c", value=None)
        ConfigAppended(writer="w0", offset=4, key="connector-c", value='{"properties":{}}')
        RunSettled()
    """,
)  # fmt: skip

# ---------------------------------------------------------------------------------------------- form

STATES: Final = {"STARTED": "STARTED", "PAUSED": "PAUSED", "STOPPED": "PAUSED"}
"""Each target state, and that which releases before KIP-875 read in its place."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _properties(value: dict[str, Any]) -> bool:
    properties = value.get("properties")
    return (
        list(value) == ["properties"]
        and isinstance(properties, dict)
        and all(text is None or isinstance(text, str) for text in properties.values())
    )


def _count_of(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda value: list(value) == [name] and _is_number(value[name]) and value[name] >= 0


def _target(value: dict[str, Any]) -> bool:
    newer = value.get("state.v2")
    return list(value) == ["state", "state.v2"] and newer in STATES and value["state"] == STATES[newer]


def _restart(value: dict[str, Any]) -> bool:
    return list(value) == ["include-tasks", "only-failed"] and all(isinstance(flag, bool) for flag in value.values())


def _session_key(value: dict[str, Any]) -> bool:
    has_all = list(value) == ["key", "algorithm", "creation-timestamp"]
    return has_all and isinstance(value["key"], str) and bool(value["key"]) and _is_number(value["creation-timestamp"])


def _level(value: dict[str, Any]) -> bool:
    return list(value) == ["level"] and isinstance(value["level"], str)


FORMS: Final[dict[str, Callable[[dict[str, Any]], bool]]] = {
    "connector-": _properties,
    "task-": _properties,
    "commit-": _count_of("tasks"),
    "tasks-fencing-": _count_of("task-count"),
    "target-state-": _target,
    "restart-connector-": _restart,
    "logger-cluster-": _level,
    SESSION_KEY: _session_key,
}
"""By the beginning of a record's key, whether its value is as Kafka's schema says, its fields in that order."""

REMOVABLE: Final = ("connector-", "target-state-")
"""Prefixes of keys for which a worker writes tombstones."""


def _is_right(event: ConfigAppended) -> bool:
    kind, name = (SESSION_KEY, "") if event.key == SESSION_KEY else kind_and_name(event.key)
    if kind == "task-" and task_key(name) is None:
        return False
    if event.value is None:
        return kind in REMOVABLE
    try:
        value = json.loads(event.value)
    except ValueError:
        return False
    return kind in FORMS and isinstance(value, dict) and FORMS[kind](value)


def _has_kafkas_form(event: ConfigAppended, readers: ConfigReaders) -> Findings:
    """Every release reads the record as its writer meant it."""
    if event.writer not in readers.stores:
        return None
    if _is_right(event):
        return CHECKED
    return broken(
        f"{event.writer} writes {event.key} as {event.value}",
        (f"{event.writer} appended {event.key} at {STEP}, and {event.value} is not how Kafka writes it: contradiction.",
         event),
    )  # fmt: skip


ConfigRecordsHaveKafkasForm: Final = Invariant(
    name="config_records_have_kafkas_form",
    family="config",
    claim="each record that a worker appends to the config topic has the fields of Kafka's schema, in their order: a "
    "target state stands in it twice, STOPPED as PAUSED for releases that do not know it",
    source="KafkaConfigBackingStore: CONNECTOR_CONFIGURATION_V0, TASK_CONFIGURATION_V0, TARGET_STATE_V1, "
    "SESSION_KEY_V0, RESTART_REQUEST_V0; KIP-875",
    premises=("the record was written by the store of a worker that the history shows",),
    evidence=Evidence.PRESENCE,
    fold=form(
        {ConfigAppended: _has_kafkas_form}, views=(ConfigReaders,), needs=((ConfigStoreStarted, WorkerConfigured),)
    ),
    breaks="""
        WorkerConfigured(member="w0", mode="eager")
        ConfigAppended(writer="w0", offset=0, key="target-state-c", value='{"state":"STOPPED","state.v2":"STOPPED"}')
    """,
    holds="""
        WorkerConfigured(member="w0", mode="eager")
        ConfigAppended(writer="w0", offset=0, key="target-state-c", value='{"state":"PAUSED","state.v2":"STOPPED"}')
    """,
)

LAWS: Final = (
    CommitFollowsReadBack,
    OnlyTheLeaderRotatesKeys,
    ChangedTaskConfigsArePublished,
    ConfigRecordsHaveKafkasForm,
)
"""In the order in which reports name them."""
