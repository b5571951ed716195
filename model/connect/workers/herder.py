"""The herder's handling of configs, assignments and delays (``DistributedHerder``)."""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.connect.workers.state import Config, Schedule, State, Step
from rebalance_check.model.vocabulary.actions import ActionKind


def change_config_choices(c: Config) -> int:
    """The item that is created or deleted."""
    return c.items


def change_config(c: Config, s: State, k: int) -> bool:
    """A user creates an item of work that is not configured, or deletes one that is.

    The config topic grows by one record; workers read it one after the other.

    Source: ``KafkaConfigBackingStore.putConnectorConfig``; ``KafkaConfigBackingStore.removeConnectorConfig``.
    Leaves unchanged: every worker until it reads the record.
    """
    if s.end >= c.config_changes:
        return False
    s.configs[s.end + 1] = s.configs[s.end] ^ (1 << k)
    s.end += 1
    return True


def read_config(s: State, m: int) -> bool:
    """The config log's thread of a worker reads the next record, and asks the herder for a rebalance.

    It does so while the worker joins as well.

    Source: ``DistributedHerder.ConfigUpdateListener``.
    Leaves unchanged: the snapshot that a JoinGroup in flight was built from.
    """
    me = s.workers[m]
    if me.step == Step.DOWN or me.offset >= s.end:
        return False
    me.offset += 1
    me.stale = 1
    return True


def read_config_to_end(s: State, m: int) -> None:
    """The herder waits until its worker has read the config topic to the end."""
    me = s.workers[m]
    if me.offset < s.end:
        me.stale = 1
    me.offset = s.end


def complete_rebalance(s: State, m: int) -> bool:
    """The herder starts the assigned work if its configs are those that the leader used, and otherwise joins again.

    A worker that is behind reads to the end first; one that is then ahead starts nothing. After an assignment with
    revocations it joins once more, so that what was revoked is assigned.

    Source: ``DistributedHerder.handleRebalanceCompleted``.
    Leaves unchanged: work that runs already.
    """
    me = s.workers[m]
    if me.step != Step.MEMBER or me.resolved == 1 or me.rejoin == 1:
        return False
    if me.error == 1:
        if me.leader == m or me.offset < me.assigned_offset:
            read_config_to_end(s, m)
        me.rejoin = 1
        return True
    if me.offset < me.assigned_offset:
        read_config_to_end(s, m)
    if me.offset != me.assigned_offset:
        me.rejoin = 1
        return True
    me.running |= me.claim
    me.resolved = 1
    me.rejoin = me.follow_up
    me.follow_up = 0
    return True


def expire_delay(s: State, m: int) -> bool:
    """The delay that m scheduled as a leader has passed.

    Source: ``IncrementalCooperativeAssignor.handleLostAssignments`` (``scheduledRebalance``).
    Leaves unchanged: the assignments until the next round.
    """
    memory = s.workers[m].memory
    if memory.schedule != Schedule.RUNNING:
        return False
    memory.schedule = Schedule.PASSED
    return True


def rejoin_after_delay(s: State, m: int) -> bool:
    """The scheduled rebalance of a worker is due, and it asks for a rebalance; never before the leader's is due.

    Source: ``DistributedHerder.handleRebalanceCompleted`` (``scheduledRebalance``).
    Leaves unchanged: the work of the worker.
    """
    me = s.workers[m]
    if me.step != Step.MEMBER or me.delayed == 0 or me.rejoin == 1 or me.leader == NIL:
        return False
    if s.workers[me.leader].memory.schedule == Schedule.RUNNING:
        return False
    me.delayed = 0
    me.rejoin = 1
    return True


HERDER: Final = Concern(
    rules=(
        Rule(ActionKind.CHANGE_CONFIG, change_config, change_config_choices, members=False),
        Rule(ActionKind.READ_CONFIG, read_config, fair=True),
        Rule(ActionKind.COMPLETE_REBALANCE, complete_rebalance, fair=True),
        Rule(ActionKind.EXPIRE_DELAY, expire_delay, fair=True),
        Rule(ActionKind.REJOIN_AFTER_DELAY, rejoin_after_delay, fair=True),
    ),
)
