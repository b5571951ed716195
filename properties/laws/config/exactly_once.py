"""Exactly once: which producers of a Connect group may write, and which are fenced before (KIP-618)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConnectAssignmentReceived,
    Event,
    ProducerFenced,
    ProducerInitialised,
    RejoinRequested,
    WorkerClaimed,
    WorkerConfigured,
)
from rebalance_check.properties.engines import CHECKED, Excused, Finding, Step, broken, form, order
from rebalance_check.properties.engines.completion import AT_REST
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.config_topic import Commits
from rebalance_check.properties.views.worker import SHOWS_WHAT_RUNS, connector_of
from rebalance_check.properties.views.workers import Workers


def _epochs(event: ProducerInitialised | ProducerFenced) -> list[Step]:
    """A fencing uses up the epochs of the old producers, and then takes one itself."""
    name = event.transactional_id
    if isinstance(event, ProducerInitialised):
        says = f"{event.member} got epoch {event.epoch} of {name} at {STEP}"
        return [Step(name, (event.epoch, True), says, event)]
    used = [Step(name, (event.epoch, False), f"epoch {event.epoch} of {name} was in use or fenced at {STEP}", event)]
    if event.used >= 0:
        used.append(Step(name, (event.used, True), f"a fencing of {name} took epoch {event.used} at {STEP}", event))
    return used


def _again(last: Step, step: Step) -> str:
    (before, _), (epoch, is_new) = last.value, step.value
    return f"epoch {epoch} of {step.key} is taken again" if is_new and epoch <= before else ""


ProducerEpochsGrow: Final = Invariant(
    name="producer_epochs_grow",
    family="config",
    claim="each producer that is initialised, and each fencing, takes a higher epoch than all before it of its "
    "transactional id",
    source="KIP-618; KafkaProducer.initTransactions, Admin.fenceProducers",
    premises=("the transactional ids are not forgotten (transactional.id.expiration.ms)",),
    evidence=Evidence.PRESENCE,
    fold=order({ProducerInitialised: _epochs, ProducerFenced: _epochs}, wrong=_again),
    breaks="""
        ProducerInitialised(member="w0", transactional_id="connect-c-0", epoch=3, work="c-0")
        ProducerInitialised(member="w1", transactional_id="connect-c-0", epoch=3, work="c-0")
    """,
    holds="""
        ProducerInitialised(member="w0", transactional_id="connect-c-0", epoch=3, work="c-0")
        ProducerInitialised(member="w1", transactional_id="connect-c-0", epoch=4, work="c-0")
    """,
)


def _all_counted(event: Event, commits: Commits, workers: Workers) -> Iterator[Finding]:
    """At rest the tasks before the last commit of each source connector have been fenced, if its tasks were tried."""
    if not workers.have_converged:
        return
    tried = {
        connector_of(work)
        for worker in workers.each()
        for work in (*worker.running, *worker.failed)
        if worker.configured is not None and worker.configured.exactly_once and connector_of(work) != work
    }
    for name, commit in sorted(commits.of.items()):
        last, counted = commit.event, commit.counted
        if name not in tried or last is None or counted is None or not commit.tasks:
            continue
        if counted.offset > last.offset:
            yield CHECKED
            continue
        if commits.key is not None and commits.key.offset > last.offset:
            yield Excused("the session key changed, and the leader may have refused a request signed with the last one")
            continue
        yield broken(
            f"the earlier tasks of {name} were not fenced",
            (f"{counted.writer} counted tasks of {name} when they were fenced last, at {STEP};", counted),
            (f"{last.writer} committed other task configs at {STEP};", last),
            (f"no worker fenced the tasks before by {STEP}, when the group had converged: contradiction.", event),
        )


EarlierTasksAreFenced: Final = Invariant(
    name="earlier_tasks_are_fenced",
    family="config",
    claim="with exactly-once support a round of fencing succeeds after each commit of task configs: at rest the last "
    "task count record of a source connector lies behind its last commit",
    source="KIP-618; DistributedHerder.fenceZombieSourceTasks, doFenceZombieSourceTasks; KAFKA-15059",
    premises=(
        "a connector with a task count record is a source connector; each worker has tried to start its tasks",
        "at rest: all workers are in one generation, without error and delay, and know no newer configs",
        "a leader refuses a request that is signed with a session key before its own",
    ),
    exempted_by=(*SHOWS_WHAT_RUNS, ConfigAppended, ConnectAssignmentReceived, RejoinRequested, WorkerClaimed),
    fold=form(
        dict.fromkeys(AT_REST, _all_counted),
        views=(Commits, Workers),
        needs=((ConfigAppended,), (WorkerConfigured,), (ConnectAssignmentReceived,)),
    ),
    breaks="""
        WorkerConfigured(member="w0", mode="sessioned", exactly_once=True)
        ConfigAppended(offset=0, key="tasks-fencing-c", value='{"task-count":1}')
        ConfigAppended(offset=1, key="task-c-0", value='{"properties":{}}')
        ConfigAppended(offset=2, key="commit-c", value='{"tasks":1}')
        ConnectAssignmentReceived(member="w0", generation=1, protocol="sessioned", config_offset=3, assigned=("c-0",))
        TaskStarted(member="w0", generation=1, task="c-0")
        RunSettled()
    """,
    holds="""
        WorkerConfigured(member="w0", mode="sessioned", exactly_once=True)
        ConfigAppended(offset=0, key="task-c-0", value='{"properties":{}}')
        ConfigAppended(offset=1, key="commit-c", value='{"tasks":1}')
        ConfigAppended(offset=2, key="tasks-fencing-c", value='{"task-count":1}')
        ConnectAssignmentReceived(member="w0", generation=1, protocol="sessioned", config_offset=3, assigned=("c-0",))
        TaskStarted(member="w0", generation=1, task="c-0")
        RunSettled()
    """,
    excuses="""
        WorkerConfigured(member="w0", mode="sessioned", exactly_once=True)
        ConfigAppended(offset=0, key="tasks-fencing-c", value='{"task-count":1}')
        ConfigAppended(offset=1, key="task-c-0", value='{"properties":{}}')
        ConfigAppended(offset=2, key="commit-c", value='{"tasks":1}')
        ConfigAppended(offset=3, key="session-key", value='{}')
        ConnectAssignmentReceived(member="w0", generation=1, protocol="sessioned", config_offset=4, assigned=("c-0",))
        TaskStarted(member="w0", generation=1, task="c-0")
        RunSettled()
    """,
)

LAWS: Final = (ProducerEpochsGrow, EarlierTasksAreFenced)
"""In the order in which reports name them."""
