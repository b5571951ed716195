"""The actions of the model in which the coordinator under test has a part, and its part."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.actions import AT_ZOMBIE, ActionKind

REQUESTS: Final = frozenset(
    {
        ActionKind.JOIN_GROUP,
        ActionKind.SYNC_GROUP,
        ActionKind.HEARTBEAT,
        ActionKind.LEAVE_GROUP,
        ActionKind.OFFSET_COMMIT,
    }
)
"""The actions in which a request of a member arrives."""

BREAKS_THE_CONNECTION: Final = frozenset({ActionKind.CRASH, ActionKind.SEND_LEAVE_GROUP, ActionKind.DROP_CONNECTION})
"""The steps of a member or the network after which no member hears of parked requests."""

FAILOVER: Final = frozenset(
    {
        ActionKind.COMMIT_APPEND,
        ActionKind.CRASH_COORDINATOR,
        ActionKind.RESIGN_COORDINATOR,
        ActionKind.ELECT_COORDINATOR,
        ActionKind.LOAD_COORDINATOR,
        ActionKind.DEPOSE_COORDINATOR,
        ActionKind.RESIGN_ZOMBIE_COORDINATOR,
    }
)
"""Steps of the coordinator itself, from a commit to a deposition. The choice of these is not its own but ours."""

COORDINATOR_STEPS: Final = (
    REQUESTS
    | AT_ZOMBIE
    | FAILOVER
    | {
        ActionKind.EXPIRE_SESSION,
        ActionKind.EXPIRE_INITIAL_DELAY,
        ActionKind.EXPIRE_REBALANCE,
        ActionKind.EXPIRE_SYNC,
        ActionKind.DELETE_GROUP,
        ActionKind.DELIVER_DUPLICATE,
        ActionKind.COMMIT_WITHOUT_GROUP,
        ActionKind.COMMIT_DURING_JOIN,
        ActionKind.HEARTBEAT_DURING_SYNC,
    }
)
"""The actions in which the coordinator under test has a part; all others are the model's own."""
