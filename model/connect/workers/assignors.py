"""How a leader answers: the step shared by both assignors, and the eager one (``EagerAssignor``)."""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.connect.workers.incremental import assign_incrementally
from rebalance_check.model.connect.workers.state import Config, Phase, State, Step, contains, round_mode
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.worker_modes import WorkerMode


def highest_offset(c: Config, s: State) -> int:
    """The highest config offset that a member sent."""
    highest = 0
    for w in range(c.members):
        if contains(s.members, w):
            highest = max(highest, s.workers[w].sent)
    return highest


def assign_eagerly(c: Config, s: State, items: int, k: int) -> None:
    """One circular iterator over the members: each item goes to the next one."""
    place = 0
    for x in range(c.items):
        if contains(items, x):
            while not contains(s.members, c.orders[k * c.members + place]):
                place = (place + 1) % c.members
            s.workers[c.orders[k * c.members + place]].given |= 1 << x
            place = (place + 1) % c.members


def perform_assignment_choices(c: Config) -> int:
    """The order in which the assignor takes the workers: their ids, and the order of hash tables, may be any."""
    return c.order_count


def perform_assignment(c: Config, s: State, m: int, k: int) -> bool:
    """The leader assigns by the newest configs that a member has read, or answers CONFIG_MISMATCH.

    A leader that is behind takes a new snapshot first; if that is still behind, every member gets the error, no work,
    and the highest offset. The generation's mode chooses the assignor.

    Source: ``WorkerCoordinator.onLeaderElected``; ``ConnectAssignor``.
    Leaves unchanged: the members, which have not received the answer yet; in the error case the leader's memory.
    """
    me = s.workers[m]
    if me.step != Step.SYNCING or s.phase != Phase.COMPLETING or s.leader != m or s.computed == 1:
        return False
    s.computed = 1
    s.error = 0
    s.delayed = 0
    s.offset = highest_offset(c, s)
    if me.sent < s.offset:
        if me.offset < s.offset:
            s.error = 1
            return True
        s.offset = me.offset
    if round_mode(c, s) == WorkerMode.EAGER:
        assign_eagerly(c, s, s.configs[s.offset], k)
    else:
        assign_incrementally(c, s, m, k)
    return True


ASSIGNORS: Final = Concern(
    rules=(Rule(ActionKind.PERFORM_ASSIGNMENT, perform_assignment, perform_assignment_choices, fair=True),),
)
