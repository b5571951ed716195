"""Config writes: which records a worker may append to the config topic, when, and in which form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    Event,
    RejoinRequested,
    WorkerClaimed,
)
from rebalance_check.properties.engines import CHECKED, Excused, Finding, Findings, broken, form
from rebalance_check.properties.engines.completion import AT_REST
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.config_topic import Commits
from rebalance_check.properties.views.worker import SHOWS_WHAT_RUNS
from rebalance_check.properties.views.workers import Workers

SESSION_KEY: Final = "session-key"

PUBLISHING_MS: Final = 30_000
"""Task configs reach the topic in this time after a worker generated them (READ_WRITE_TOTAL_TIMEOUT_MS)."""

# ---------------------------------------------------------------------------------------------- order of writes


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
        ConnectAssignmentReceived(member="w0", generation=2, member_id="b", protocol="sessioned", config_offset=3)
        ConfigAppended(offset=3, key="session-key", value="{}")
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=2, member_id="a", protocol="sessioned", config_offset=3)
        ConfigAppended(offset=3, key="session-key", value="{}")
    """,
)

# ---------------------------------------------------------------------------------------------- task configs


def _changes_something(event: ConfigAppended, commits: Commits, workers: Workers) -> Findings:
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


def _all_published(event: Event, commits: Commits, workers: Workers) -> Iterator[Finding]:
    """At rest each connector that runs has a commit of the tasks of its last configuration."""
    if not workers.have_converged:
        return
    running = {work: worker for worker in workers.each() for work in worker.running}
    for name, commit in sorted(commits.of.items()):
        started, config = running.get(name), commit.config
        if started is None or config is None or commit.target != "STARTED":
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
        views=(Commits, Workers),
        needs=((ConfigAppended,), (ConnectAssignmentReceived,)),
    ),
    breaks="""
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=1, assigned=("c",))
        ConnectorStarted(member="w0", generation=1, connector="c")
        ConfigAppended(offset=0, key="connector-c", value='{"properties":{}}')
        RunSettled()
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=1, assigned=("c",))
        ConnectorStarted(member="w0", generation=1, connector="c")
        ConfigAppended(offset=0, key="connector-c", value='{"properties":{}}')
        ConfigAppended(offset=1, key="commit-c", value='{"tasks":0}')
        RunSettled()
    """,
    excuses="""
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=1, assigned=("c",))
        ConfigAppended(offset=1, key="commit-c", value='{"tasks":0}')
        ConfigAppended(offset=2, key="commit-c", value='{"tasks":0}')
        ConnectorStarted(member="w0", generation=1, connector="c")
        ConfigAppended(offset=3, key="connector-c", value=None)
        ConfigAppended(offset=4, key="connector-c", value='{"properties":{}}')
        RunSettled()
    """,
)  # fmt: skip

LAWS: Final = (
    OnlyTheLeaderRotatesKeys,
    ChangedTaskConfigsArePublished,
)
"""In the order in which reports name them."""
