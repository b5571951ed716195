"""States that some run of the config topic must reach, so that the proofs are not vacuous, or is known to reach."""

from typing import Final

from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.connect.config.state import Config, Kind, State, has_read_all, lists_tasks


def connector_lost_its_tasks(c: Config, s: State) -> bool:
    """A worker that has read everything knows the connector and lists no task, where another lists some.

    Source: KAFKA-17719.
    """
    for m in range(c.members):
        for other in range(c.members):
            both = has_read_all(s, m) and has_read_all(s, other) and s.workers[m].connector != 0
            if both and s.workers[m].inconsistent == 0 and lists_tasks(s, m) == 0 and lists_tasks(s, other) > 0:
                return True
    return False


def snapshot_is_inconsistent(c: Config, s: State) -> bool:
    """A commit lacks task configs, so the connector has no tasks for this worker.

    Source: ``ClusterConfigState.inconsistentConnectors``.
    """
    for m in range(c.members):
        if s.workers[m].inconsistent == 1:
            return True
    return False


def writer_died_between_tasks_and_commit(c: Config, s: State) -> bool:
    """Task configs wait for a commit that will not come.

    Source: ``KafkaConfigBackingStore.putTaskConfigs``.
    """
    busy = 0
    for m in range(c.members):
        if s.workers[m].call != 0:
            busy = 1
    return s.unfinished == 1 and busy == 0


def surplus_config_is_kept(c: Config, s: State) -> bool:
    """A snapshot keeps the config of a task that is not listed any more.

    Source: ``ClusterConfigState.tasks``.
    """
    for m in range(c.members):
        for task in range(c.tasks):
            me = s.workers[m]
            if me.connector != 0 and me.inconsistent == 0 and task >= me.count and me.committed[task] != 0:
                return True
    return False


def lagging_reader_mixes_writes(c: Config, s: State) -> bool:
    """A worker that read a task config before it was compacted lists it together with one of a later write.

    Source: ``KafkaBasedLog``; ``LogCleaner``.
    """
    for m in range(c.members):
        for task in range(c.tasks):
            if task < lists_tasks(s, m) and s.workers[m].committed[task] != s.workers[m].committed[0]:
                if not has_read_all(s, m) and c.expiries == 0:
                    return True
    return False


def connector_is_created_again(c: Config, s: State) -> bool:
    """A connector that was removed is known again.

    Source: ``KafkaConfigBackingStore.putConnectorConfig``.
    """
    for m in range(c.members):
        if s.removed != 0 and s.workers[m].connector > s.removed:
            return True
    return False


def tombstone_is_compacted(c: Config, s: State, t: State) -> bool:
    """The tombstone of a connector is gone, and task configs of that connector are left.

    Source: ``LogCleaner``.
    """
    gone, left = False, False
    for offset in range(c.offsets):
        before = s.records[offset]
        if before.kind == Kind.CONNECTOR and before.call == 0 and t.records[offset].kind == Kind.NONE:
            gone = True
        if t.records[offset].kind == Kind.TASK:
            left = True
    return gone and left


REACHABLE: Final = Concern(
    reachable_states=(
        connector_lost_its_tasks,
        snapshot_is_inconsistent,
        writer_died_between_tasks_and_commit,
        surplus_config_is_kept,
        lagging_reader_mixes_writes,
        connector_is_created_again,
    ),
    reachable_steps=(tombstone_is_compacted,),
)
