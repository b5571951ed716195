"""Liveness properties of a group of workers: goals that its runs reach once faults stop.

Without faults no worker ends or is removed while it runs, and no config changes. Live workers go on polling and reading
the config topic, delays pass, and the sessions of dead workers expire.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern, LivenessProperty
from rebalance_check.model.connect.workers.state import Config, Phase, State, Step, configured_items, contains


def rebalances_end(s: State) -> bool:
    """The group becomes stable or empty, and stays so.

    Follow-up rounds, back-offs and delays come to an end.

    Source: ``WorkerCoordinator.rejoinNeededOrPending``; KAFKA-12495.
    """
    return s.phase == Phase.EMPTY or s.phase == Phase.STABLE


def every_item_gets_one_runner(c: Config, s: State, p: int) -> bool:
    """While some worker runs, each configured item runs on exactly one, and stays there.

    Source: KIP-415; ``DistributedHerder.startWork``.
    """
    runners, alive = 0, 0
    for w in range(c.members):
        if s.workers[w].step != Step.DOWN:
            alive += 1
        if contains(s.workers[w].running, p):
            runners += 1
    return alive == 0 or not contains(configured_items(s), p) or runners == 1


def deleted_work_ends(c: Config, s: State, p: int) -> bool:
    """Work that is no longer configured runs nowhere in the end.

    Source: ``IncrementalCooperativeAssignor.performTaskAssignment`` (``deleted``).
    """
    for w in range(c.members):
        if contains(s.workers[w].running, p) and not contains(configured_items(s), p):
            return False
    return True


def delays_end(s: State, m: int) -> bool:
    """No worker waits for ever for a scheduled rebalance.

    Source: ``DistributedHerder.handleRebalanceCompleted`` (``scheduledRebalance``).
    """
    return s.workers[m].delayed == 0


def config_is_read(s: State, m: int) -> bool:
    """Every live worker reads the configs to the end.

    Source: ``KafkaConfigBackingStore``.
    """
    return s.workers[m].step == Step.DOWN or s.workers[m].offset == s.end


LIVENESS: Final = Concern(
    liveness=(
        LivenessProperty(rebalances_end, stabilises=True),
        LivenessProperty(every_item_gets_one_runner, stabilises=True),
        LivenessProperty(deleted_work_ends, stabilises=True),
        LivenessProperty(delays_end, stabilises=True),
        LivenessProperty(config_is_read, stabilises=True),
    ),
)
