"""The kinds of step of the classic model in families: a Hypothesis rule for each, and what a machine took of them."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.vocabulary.actions import AT_ZOMBIE, ActionKind

SENDING: Final = frozenset(
    {
        ActionKind.SEND_JOIN_GROUP,
        ActionKind.SEND_HEARTBEAT,
        ActionKind.SEND_OFFSET_COMMIT,
        ActionKind.SEND_LEAVE_GROUP,
    }
)
"""A member sends a request."""

RECEIVING: Final = frozenset(
    {
        ActionKind.RECEIVE_JOIN_GROUP,
        ActionKind.RECEIVE_SYNC_GROUP,
        ActionKind.RECEIVE_HEARTBEAT,
        ActionKind.RECEIVE_HEARTBEAT_DURING_SYNC,
        ActionKind.RECEIVE_OFFSET_COMMIT,
        ActionKind.RECEIVE_ERROR,
    }
)
"""A member reads a reply, or gives a request up."""

FORMING: Final = frozenset(
    {
        ActionKind.SEND_JOIN_GROUP,
        ActionKind.JOIN_GROUP,
        ActionKind.RECEIVE_JOIN_GROUP,
        ActionKind.SYNC_GROUP,
        ActionKind.RECEIVE_SYNC_GROUP,
        ActionKind.RECEIVE_ERROR,
        ActionKind.EXPIRE_INITIAL_DELAY,
        ActionKind.COMMIT_APPEND,
    }
)
"""What leads from no group to one whose members all have their assignment."""

PROCESSES: Final = frozenset({ActionKind.CRASH, ActionKind.RESTART, ActionKind.ROLLING_RESTART})
"""A process ends or begins, with the next list of an upgrade path perhaps."""

ARRIVING: Final = frozenset(
    {
        ActionKind.JOIN_GROUP,
        ActionKind.SYNC_GROUP,
        ActionKind.HEARTBEAT,
        ActionKind.LEAVE_GROUP,
        ActionKind.OFFSET_COMMIT,
    }
)
"""A member's request reaches the coordinator."""

ON_OTHER_CONNECTIONS: Final = frozenset(
    {ActionKind.HEARTBEAT_DURING_SYNC, ActionKind.COMMIT_DURING_JOIN, ActionKind.COMMIT_WITHOUT_GROUP}
)
"""Requests that overtake what is on its way, and those of clients outside of the group."""

TIMERS: Final = frozenset(
    {
        ActionKind.EXPIRE_SESSION,
        ActionKind.EXPIRE_INITIAL_DELAY,
        ActionKind.EXPIRE_REBALANCE,
        ActionKind.EXPIRE_SYNC,
    }
)
"""A timer of the coordinator is due."""

OPERATOR: Final = frozenset({ActionKind.DELETE_GROUP})
"""An operator deletes the group."""

NETWORK: Final = frozenset(
    {
        ActionKind.DUPLICATE_REQUEST,
        ActionKind.DELIVER_DUPLICATE,
        ActionKind.LOSE_REQUEST,
        ActionKind.LOSE_REPLY,
        ActionKind.DROP_CONNECTION,
    }
)
"""The network doubles or loses a message, or a connection breaks."""

FAILING_OVER: Final = frozenset(
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
"""A record is replicated, and what replaces the coordinator."""

FAMILIES: Final = (
    SENDING,
    RECEIVING,
    PROCESSES,
    ARRIVING,
    ON_OTHER_CONNECTIONS,
    TIMERS,
    OPERATOR,
    NETWORK,
    FAILING_OVER,
    AT_ZOMBIE,
)
"""All of them; each kind of the model is in one."""

ALL_KINDS: Final = frozenset(rule.kind for rule in MODEL.rules)
"""Every kind of step that the classic model has."""

NEEDS_FAILOVER: Final = FAILING_OVER | AT_ZOMBIE
"""What only a coordinator that can be made to fail over comes to."""


class Taken:
    """How often each of ``kinds`` of step was taken, over all runs of a machine; those of the model by default."""

    def __init__(self, kinds: frozenset[ActionKind] = ALL_KINDS) -> None:
        self.counts: Counter[ActionKind] = Counter()
        self._kinds = kinds

    def note(self, kind: ActionKind) -> None:
        """One more."""
        self.counts[kind] += 1

    @property
    def missing(self) -> frozenset[ActionKind]:
        """The kinds that no run has taken."""
        return self._kinds - self.counts.keys()

    def __str__(self) -> str:
        """``39 of 41 kinds of step: JoinGroup 512, ...; none of DeliverDuplicate``."""
        counted = ", ".join(f"{kind} {count}" for kind, count in self.counts.most_common())
        missing = ", ".join(sorted(self.missing))
        said = f"{len(self.counts)} of {len(self._kinds)} kinds of step: {counted}"
        return f"{said}; none of {missing}" if missing else said
