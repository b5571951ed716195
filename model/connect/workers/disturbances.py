"""How workers end, leave, return and are removed, and how one fares without a coordinator (``WorkerCoordinator``).

An action is a function of (c, s, m, k), see `model.checker.specification`: m is the worker, k the choice.
"""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.connect.workers.group import drop_member, remove_member, stop_process
from rebalance_check.model.connect.workers.state import (
    Config,
    Phase,
    State,
    Step,
    configured_mode,
    contains,
)
from rebalance_check.model.vocabulary.actions import ActionKind


def crash(c: Config, s: State, m: int) -> bool:
    """A worker process dies: its work ends, and what it remembers as a leader is lost.

    The coordinator learns of it when the session expires.

    Source: ``WorkerCoordinator``; ``IncrementalCooperativeAssignor`` (fields in memory).
    Leaves unchanged: the group until the session expires.
    """
    if s.crashes >= c.crashes or s.workers[m].step == Step.DOWN:
        return False
    s.crashes += 1
    stop_process(c, s, m)
    if not contains(s.members, m):
        drop_member(c, s, m)
    return True


def leave_group(c: Config, s: State, m: int) -> bool:
    """A worker stops in good order: its work ends, and it leaves the group.

    Source: ``DistributedHerder.halt``.
    Leaves unchanged: how the leader treats the work of the worker; a crash is treated alike.
    """
    if s.leaves >= c.leaves or s.workers[m].step == Step.DOWN:
        return False
    s.leaves += 1
    stop_process(c, s, m)
    drop_member(c, s, m)
    return True


def rolling_restart(c: Config, s: State, m: int) -> bool:
    """The operator stops a worker in good order and configures it with the next mode of the path.

    Before, a patient operator waits until every worker is a member of a stable group.

    Source: KIP-415; KIP-507.
    Leaves unchanged: the other workers and their modes.
    """
    me = s.workers[m]
    if s.rolling_restarts >= c.rolling_restarts or me.step == Step.DOWN or me.mode_index + 1 >= c.mode_count:
        return False
    if c.waits == 1 and (s.phase != Phase.STABLE or s.members != (1 << c.members) - 1):
        return False
    s.rolling_restarts += 1
    stop_process(c, s, m)
    me.mode_index += 1
    drop_member(c, s, m)
    return True


def restart(c: Config, s: State, m: int) -> bool:
    """A worker that is down starts, and reads the config topic to its end before it joins.

    Its old session is over, and it gets a new member id.

    Source: ``DistributedHerder.startServices``; ``KafkaConfigBackingStore.start``.
    Leaves unchanged: the group until the worker joins.
    """
    me = s.workers[m]
    if me.step != Step.DOWN or contains(s.members, m):
        return False
    me.step = Step.OUT
    me.offset = s.end
    if c.modes != 0:
        me.current = configured_mode(c, s, m)
    return True


def expire_session(c: Config, s: State, m: int) -> bool:
    """The coordinator removes a worker: its session, or its poll timeout, has expired.

    A live worker learns of it when it next polls. Until then its work goes on (KAFKA-16056).

    Source: ``AbstractCoordinator.HeartbeatThread``; ``WorkerCoordinator.handlePollTimeoutExpiry``.
    Leaves unchanged: the worker's claim and its work.
    """
    if not contains(s.members, m):
        return False
    if s.workers[m].step != Step.DOWN:
        if s.expiries >= c.expiries or contains(s.joined, m):
            return False
        s.expiries += 1
    remove_member(c, s, m)
    return True


def revoke_all(c: Config, s: State, m: int) -> bool:
    """A worker that finds no coordinator stops its work, claims nothing any more and has to join again.

    Source: ``WorkerCoordinator.poll`` (KAFKA-9184).
    Leaves unchanged: the group, which still has the worker as a member.
    """
    me = s.workers[m]
    if s.losses >= c.losses or me.step != Step.MEMBER or me.error == 1:
        return False
    s.losses += 1
    me.running &= ~me.claim
    me.claim = 0
    me.rejoin = 1
    return True


DISTURBANCES: Final = Concern(
    rules=(
        Rule(ActionKind.CRASH, crash),
        Rule(ActionKind.LEAVE_GROUP, leave_group),
        Rule(ActionKind.ROLLING_RESTART, rolling_restart),
        Rule(ActionKind.RESTART, restart),
        Rule(ActionKind.EXPIRE_SESSION, expire_session, fair=True),
        Rule(ActionKind.REVOKE_ALL, revoke_all),
    ),
)
