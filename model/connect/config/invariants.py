"""Invariants of the snapshots that workers make of the config topic."""

from typing import Final

from rebalance_check.model.checker.specification import Concern, LivenessProperty
from rebalance_check.model.connect.config.state import Config, Kind, State, has_read_all, lists_tasks

# ------------------------------------------------------------------------------------------------ states


def listed_tasks_have_configs(c: Config, s: State) -> bool:
    """Each task that a snapshot lists has a config.

    Source: ``ClusterConfigState.tasks``; KAFKA-17719.
    Leaves unchanged: configs of tasks that are not listed any more.
    """
    for m in range(c.members):
        for task in range(c.tasks):
            if task < lists_tasks(s, m) and s.workers[m].committed[task] == 0:
                return False
    return True


def unknown_connector_has_no_tasks(c: Config, s: State) -> bool:
    """A snapshot without the connector has no task count, no task config and no applied config of it.

    Source: ``KafkaConfigBackingStore.processConnectorRemoval``; KAFKA-16838.
    Leaves unchanged: the inconsistent and pending flags and the generation, which survive a removal.
    """
    for m in range(c.members):
        me = s.workers[m]
        if me.connector == 0:
            if me.count != 0 or me.applied != 0:
                return False
            for task in range(c.tasks):
                if me.committed[task] != 0:
                    return False
    return True


def snapshots_agree(c: Config, s: State) -> bool:
    """Workers that have read everything have the same connector config, list of tasks and task configs.

    While a write of task configs is unfinished, or due, nothing is claimed. Compaction breaks the claim where a
    connector config was changed without its task configs (KAFKA-17719).

    Source: ``KafkaConfigBackingStore``; KAFKA-17719.
    Leaves unchanged: generations, flags, and configs of tasks that are not listed.
    """
    if s.unfinished == 1 or s.owed == 1:
        return True
    for m in range(c.members):
        for other in range(m):
            if has_read_all(s, m) and has_read_all(s, other) and differ(c, s, m, other):
                return False
    return True


def differ(c: Config, s: State, m: int, other: int) -> bool:
    """Whether the snapshots of two workers differ in the parts that the herder runs."""
    if s.workers[m].connector != s.workers[other].connector or lists_tasks(s, m) != lists_tasks(s, other):
        return True
    for task in range(c.tasks):
        if task < lists_tasks(s, m) and s.workers[m].committed[task] != s.workers[other].committed[task]:
            return True
    return False


def listed_tasks_are_of_one_write(c: Config, s: State) -> bool:
    """A worker that has read everything lists tasks whose configs were all written by the same call.

    Two leaders that write at once break it, unless the earlier one is fenced (KIP-618).

    Source: ``KafkaConfigBackingStore.putTaskConfigs``; KIP-618.
    Leaves unchanged: workers that lag behind a compaction (`lagging_reader_mixes_writes`), and unfinished writes.
    """
    for m in range(c.members):
        for task in range(c.tasks):
            settled = has_read_all(s, m) and s.unfinished == 0
            if settled and task < lists_tasks(s, m) and s.workers[m].committed[task] != s.workers[m].committed[0]:
                return False
    return True


def recreated_connector_has_new_tasks(c: Config, s: State) -> bool:
    """A worker that has read everything lists no task config from before the connector was last removed.

    While a write of task configs is unfinished, or due, nothing is claimed.

    Source: KAFKA-16838; ``KafkaConfigBackingStore.processTasksCommitRecord``.
    Leaves unchanged: the old records, which stay in the topic.
    """
    for m in range(c.members):
        for task in range(c.tasks):
            old = s.workers[m].committed[task] < s.removed
            settled = has_read_all(s, m) and s.unfinished == 0 and s.owed == 0
            if settled and task < lists_tasks(s, m) and old:
                return False
    return True


# ------------------------------------------------------------------------------------------------ steps


def kind_read(s: State, t: State, m: int) -> int:
    """The kind of the record that m read in a step; NONE where it read none."""
    kind = 0
    if t.workers[m].position > s.workers[m].position:
        kind = s.records[t.workers[m].position - 1].kind
    return kind


def offsets_never_decrease(c: Config, s: State, t: State) -> bool:
    """A worker that does not start again never reads an offset twice.

    Source: ``KafkaBasedLog``.
    Leaves unchanged: a worker that starts again, which reads from the beginning.
    """
    for m in range(c.members):
        if t.crashes == s.crashes and t.workers[m].position < s.workers[m].position:
            return False
    return True


def committed_configs_change_at_commits(c: Config, s: State, t: State) -> bool:
    """The task configs of a snapshot change only when a commit or a connector's tombstone is read.

    Source: ``KafkaConfigBackingStore.processTasksCommitRecord``.
    Leaves unchanged: task configs that wait for a commit.
    """
    for m in range(c.members):
        kind = kind_read(s, t, m)
        if t.crashes == s.crashes and kind != Kind.COMMIT and kind != Kind.CONNECTOR:
            for task in range(c.tasks):
                if s.workers[m].committed[task] != t.workers[m].committed[task]:
                    return False
    return True


def incomplete_commit_changes_no_config(c: Config, s: State, t: State) -> bool:
    """A commit that makes the connector inconsistent leaves task configs, generation and applied config alone.

    Source: ``KafkaConfigBackingStore.processTasksCommitRecord``.
    Leaves unchanged: the count, which becomes that of the commit.
    """
    for m in range(c.members):
        me = s.workers[m]
        then = t.workers[m]
        if kind_read(s, t, m) == Kind.COMMIT and then.inconsistent == 1 and then.connector != 0:
            if me.generation != then.generation or me.applied != then.applied:
                return False
            for task in range(c.tasks):
                if me.committed[task] != then.committed[task]:
                    return False
    return True


def commit_ends_deferral(c: Config, s: State, t: State) -> bool:
    """After a commit no task config waits, and that of a known connector makes zombie fencing due.

    Source: ``KafkaConfigBackingStore.processTasksCommitRecord``; KIP-618.
    Leaves unchanged: task configs that are written later.
    """
    for m in range(c.members):
        if kind_read(s, t, m) == Kind.COMMIT:
            if t.workers[m].connector != 0 and t.workers[m].pending == 0:
                return False
            for task in range(c.tasks):
                if t.workers[m].deferred[task] != 0:
                    return False
    return True


def applied_is_current_at_the_commit(c: Config, s: State, t: State) -> bool:
    """A complete commit applies the connector config that is known when it is read.

    Source: ``ClusterConfigState.appliedConnectorConfig``.
    Leaves unchanged: later connector configs, until the next complete commit.
    """
    for m in range(c.members):
        then = t.workers[m]
        complete = kind_read(s, t, m) == Kind.COMMIT and then.connector != 0 and then.inconsistent == 0
        if complete and then.applied != then.connector:
            return False
    return True


def generation_counts_complete_commits(c: Config, s: State, t: State) -> bool:
    """The generation of the task configs rises by one with a complete commit, and with nothing else.

    Source: ``ClusterConfigState.taskConfigGeneration``; KIP-618.
    Leaves unchanged: generations of other processes, which count the commits that they have seen.
    """
    for m in range(c.members):
        me = s.workers[m]
        then = t.workers[m]
        committed = kind_read(s, t, m) == Kind.COMMIT and then.connector != 0 and then.inconsistent == 0
        expected = me.generation + 1 if committed else me.generation
        if t.crashes == s.crashes and then.generation != expected:
            return False
    return True


# ------------------------------------------------------------------------------------------------ liveness


def topic_is_read_to_the_end(s: State, m: int) -> bool:
    """Every worker reads the topic to its end.

    Source: ``KafkaBasedLog``.
    """
    return has_read_all(s, m)


def writes_end(s: State, m: int) -> bool:
    """A call that is under way ends.

    Source: ``KafkaConfigBackingStore.putTaskConfigs``.
    """
    return s.workers[m].call == 0


CLAIMS: Final = Concern(
    invariants=(
        listed_tasks_have_configs,
        unknown_connector_has_no_tasks,
        snapshots_agree,
        listed_tasks_are_of_one_write,
        recreated_connector_has_new_tasks,
    ),
    step_invariants=(
        offsets_never_decrease,
        committed_configs_change_at_commits,
        incomplete_commit_changes_no_config,
        commit_ends_deferral,
        applied_is_current_at_the_commit,
        generation_counts_complete_commits,
    ),
    liveness=(
        LivenessProperty(topic_is_read_to_the_end, stabilises=True),
        LivenessProperty(writes_end, stabilises=True),
    ),
)
