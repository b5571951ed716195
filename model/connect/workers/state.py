"""The state of a group of Connect workers: the coordinator's round, the config topic's length, and the workers.

The group protocol is coarser here than in `model.classic`: a request and its reply are one step, and no message is
lost, because how rounds form is proven there. The model has Connect's additions: claims, config offsets, a
leader's memory, each worker's running work. An *item* is a connector or a task; sets of items are bit masks.
"""

from enum import IntEnum
from itertools import permutations
from typing import Annotated, NamedTuple

from rebalance_check.model.checker.layout import (
    SYMMETRIC,
    Age,
    Counter,
    Dimension,
    Index,
    IndexSet,
    Layout,
    Number,
    Ordinal,
    PerMember,
    Spent,
    When,
    layout,
)
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.worker_modes import WorkerMode, mode_path_numbered


class Phase(IntEnum):
    """The coordinator's wait: for the first member, every JoinGroup, the leader's SyncGroup, or nothing."""

    EMPTY = 0
    PREPARING = 1
    COMPLETING = 2
    STABLE = 3


class Step(IntEnum):
    """Where a worker's herder thread is: not in a group, waiting for a reply, or in its tick."""

    DOWN = 0
    OUT = 1
    JOINING = 2
    SYNCING = 3
    MEMBER = 4


class Schedule(IntEnum):
    """``scheduledRebalance`` of a leader: none, in the future, or passed."""

    NONE = 0
    RUNNING = 1
    PASSED = 2


class Config(NamedTuple):
    """The bounds as the model reads them."""

    members: int
    items: int
    generations: int
    crashes: int
    leaves: int
    expiries: int
    losses: int
    rolling_restarts: int
    config_changes: int
    rebalance_delay: int
    cooperative: int
    """1 where a worker may be in a cooperative mode; otherwise nothing of the incremental assignor is in the state."""
    modes: int
    """1 on a path of worker modes; otherwise every worker has the first mode for ever."""
    path: tuple[int, ...]
    """The `WorkerMode` of each place of the path."""
    mode_count: int
    waits: int
    """1 where the operator restarts a worker only while all are members of a stable group."""
    orders: tuple[int, ...]
    """Every order of the workers, one after the other: which worker an assignor takes first."""
    order_count: int


@layout
class Memory(Layout):
    """The memory of an ``IncrementalCooperativeAssignor`` from round to round."""

    previous: Number  # previousAssignment
    revoked: Number  # previousRevocation
    revoking: Number  # revokedInPrevious
    candidates: IndexSet  # candidateWorkersForReassignment
    schedule: Number  # scheduledRebalance, as a `Schedule`; ``delay`` is above 0 with it
    generation: Ordinal  # previousGenerationId
    members: IndexSet  # previousMembers
    departed: Number  # 1 once the member id of one of them is gone


@layout
class Worker(Layout):
    """A worker: its knowledge of configs, its claim, its running work, its part in the last round."""

    step: Number
    mode_index: Annotated[Number, When("modes")]  # place of its mode in the path
    current: Annotated[Number, When("modes")]  # mode of its last completed join
    offset: Number  # of the config topic, up to which it has read
    sent: Number  # the offset in its JoinGroup
    stale: Number  # 1 while configs that it has read ask for a rebalance
    claim: Number  # assignmentSnapshot
    running: Number
    given: Number  # the leader's answer until the worker receives it: assigned ...
    taken: Number  # ... and revoked
    completed: Ordinal  # lastCompletedGenerationId
    leader: Index  # of that generation
    error: Number  # 1: CONFIG_MISMATCH
    assigned_offset: Number  # the offset in its assignment
    delayed: Number  # 1 while the assignment's delay has not passed
    resolved: Number  # rebalanceResolved: its work of this generation is started
    follow_up: Number  # 1 while its assignment carries revocations
    rejoin: Number  # rejoinRequested
    memory: Annotated[Memory, When("cooperative")]


@layout
class State(Layout):
    """Everything: the coordinator's round, the leader's answer, the configs so far, and the spent budgets."""

    phase: Number
    generation: Counter
    members: IndexSet
    joined: IndexSet
    leader: Index
    mode: Annotated[Number, When("modes")]  # the mode that all members of this generation offer
    computed: Number  # 1 once the leader has its answer
    error: Number
    offset: Number
    delayed: Number
    end: Age  # of the config topic: how often the configured items changed
    configs: Annotated[list[Number], Dimension("versions")]  # the configured items at each offset
    workers: PerMember[Worker]
    crashes: Spent
    leaves: Spent
    expiries: Spent
    losses: Spent
    rolling_restarts: Spent


def sizes(bounds: Bounds) -> dict[str, int]:
    """The dimensions of the state."""
    return {
        SYMMETRIC: bounds.members,
        "versions": bounds.config_changes + 1,
        "cooperative": int(is_cooperative_somewhere(bounds)),
        "modes": min(bounds.modes, 1),
    }


def is_cooperative_somewhere(bounds: Bounds) -> bool:
    """Whether a worker of these bounds may be in a cooperative mode."""
    return bounds.protocol is RebalanceProtocol.CONNECT_INCREMENTAL or bounds.modes > 0


def configure(bounds: Bounds) -> Config:
    """The bounds as the model reads them."""
    alone = WorkerMode.EAGER if bounds.protocol is RebalanceProtocol.CONNECT_EAGER else WorkerMode.SESSIONED
    path = mode_path_numbered(bounds.modes).modes if bounds.modes else (alone,)
    orders = list(permutations(range(bounds.members)))
    return Config(
        members=bounds.members,
        items=bounds.partitions,
        generations=bounds.generations,
        crashes=bounds.crashes,
        leaves=bounds.leaves,
        expiries=bounds.expiries,
        losses=bounds.losses,
        rolling_restarts=bounds.rolling_restarts,
        config_changes=bounds.config_changes,
        rebalance_delay=int(bounds.rebalance_delay),
        cooperative=int(is_cooperative_somewhere(bounds)),
        modes=min(bounds.modes, 1),
        path=tuple(int(mode) for mode in path),
        mode_count=len(path),
        waits=int(bounds.modes == 0 or mode_path_numbered(bounds.modes).waits),
        orders=tuple(member for order in orders for member in order),
        order_count=len(orders),
    )


# ------------------------------------------------------------------------------------------------ sets


def contains(mask: int, x: int) -> bool:
    """Whether a set has an element."""
    return (mask >> x) & 1 == 1


def size_of(c: Config, mask: int) -> int:
    """How many items a set has."""
    count = 0
    for x in range(c.items):
        count += (mask >> x) & 1
    return count


# ------------------------------------------------------------------------------------------------ modes


def configured_mode(c: Config, s: State, m: int) -> int:
    """``connect.protocol`` of a worker."""
    return c.path[s.workers[m].mode_index]


def current_mode(c: Config, s: State, m: int) -> int:
    """``currentConnectProtocol``: the mode of the last completed join, before the first one the configured mode."""
    return s.workers[m].current if c.modes != 0 else c.path[0]


def round_mode(c: Config, s: State) -> int:
    """The mode of the generation that is formed."""
    return s.mode if c.modes != 0 else c.path[0]


# ------------------------------------------------------------------------------------------------ claims


def claimed_items(c: Config, s: State) -> int:
    """The items that members of the group claim."""
    mask = 0
    for w in range(c.members):
        if contains(s.members, w):
            mask |= s.workers[w].claim
    return mask


def claimed_twice(c: Config, s: State) -> int:
    """The items that more than one member of the group claims."""
    once, twice = 0, 0
    for w in range(c.members):
        if contains(s.members, w):
            twice |= once & s.workers[w].claim
            once |= s.workers[w].claim
    return twice


def configured_items(s: State) -> int:
    """The items configured at the end of the config topic."""
    return s.configs[s.end]
