"""The classic group protocol (JoinGroup, SyncGroup, Heartbeat, LeaveGroup), EAGER and COOPERATIVE, as one model.

Read it in the order of ``SPECIFICATION``: first `classic.state` (the fields), then the client, the coordinator, and
the claims about the group. `classic.parts` is the base of client and coordinator. Every further concern adds actions
and claims; most are switched on by the bounds that bear their name (`vocabulary.bounds`).

Explored in all ways: the order of everything; which member leads after a leader is gone; which of the legal targets a
leader picks; when a timer fires. Left out: votes that end in a tie; what a zombie coordinator answers static members;
a static member whose record is not committed at once; JoinGroup below v9 of a static member (a returning leader then
takes itself for a follower).
"""

from typing import Final

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.classic.client import CLIENT
from rebalance_check.model.classic.concerns.duplicate_requests import DUPLICATE_REQUESTS
from rebalance_check.model.classic.concerns.failover import FAILOVER
from rebalance_check.model.classic.concerns.failover_reachable import FAILOVER_REACHABLE
from rebalance_check.model.classic.concerns.heartbeat_during_sync import HEARTBEAT_DURING_SYNC
from rebalance_check.model.classic.concerns.message_loss import MESSAGE_LOSS
from rebalance_check.model.classic.concerns.new_members import NEW_MEMBERS
from rebalance_check.model.classic.concerns.offset_commits import OFFSET_COMMITS
from rebalance_check.model.classic.concerns.static_members import STATIC_MEMBERS
from rebalance_check.model.classic.concerns.timeouts import TIMEOUTS
from rebalance_check.model.classic.concerns.upgrade import UPGRADE
from rebalance_check.model.classic.concerns.zombie_coordinator import ZOMBIE_COORDINATOR
from rebalance_check.model.classic.config import configure
from rebalance_check.model.classic.coordinator import COORDINATOR
from rebalance_check.model.classic.invariants import GROUP
from rebalance_check.model.classic.liveness import LIVENESS
from rebalance_check.model.classic.parts.static_members import assign_instance_ids
from rebalance_check.model.classic.reachable import REACHABLE
from rebalance_check.model.classic.state import Config, State, sizes

SPECIFICATION: Final = (
    CLIENT,
    COORDINATOR,
    DUPLICATE_REQUESTS,
    GROUP,
    REACHABLE,
    TIMEOUTS,
    MESSAGE_LOSS,
    UPGRADE,
    FAILOVER,
    FAILOVER_REACHABLE,
    OFFSET_COMMITS,
    STATIC_MEMBERS,
    ZOMBIE_COORDINATOR,
    NEW_MEMBERS,
    HEARTBEAT_DURING_SYNC,
    LIVENESS,
)
"""The concerns in reading order. The order of their rules is part of every replay address."""

_PACKAGE: Final = "rebalance_check.model.classic."
_FILES: Final = (
    "state",
    "parts.assignment", "parts.network", "parts.protocol_vote", "parts.static_members", "parts.group_log",
    "parts.new_members", "parts.join_phase", "parts.departures",
    "client", "coordinator", "concerns.duplicate_requests", "invariants", "reachable",
    "concerns.timeouts", "concerns.message_loss", "concerns.upgrade", "concerns.failover",
    "concerns.failover_reachable", "concerns.offset_commits", "concerns.static_members",
    "concerns.zombie_coordinator", "concerns.new_members", "concerns.heartbeat_during_sync",
    "liveness", "model",
)  # fmt: skip
"""Their files, in the order of their imports."""


def init(c: Config, s: State) -> None:
    """No group yet, and every process about to join."""
    reset(s)
    assign_instance_ids(c, s)


def within_bounds(c: Config, s: State) -> bool:
    """Generations beyond the bounds are not explored."""
    return s.generation <= c.generations


MODEL: Final = Model.of(
    *SPECIFICATION,
    name="classic",
    modules=tuple(_PACKAGE + file for file in _FILES),
    state=State,
    sizes=sizes,
    configure=configure,
    init=init,
    within_bounds=within_bounds,
)
