"""The kinds of step of the classic model in families: a Hypothesis rule for each, and how often a machine took them."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.vocabulary.actions import ActionKind

ALL_KINDS: Final = frozenset(rule.kind for rule in MODEL.rules)
"""Every kind of step that the classic model has."""


def _named(*beginnings: str) -> frozenset[ActionKind]:
    """The kinds of the model whose names begin like this."""
    return frozenset(kind for kind in ALL_KINDS if kind.name.startswith(beginnings))


SENDING: Final = _named("SEND_")
"""A member sends a request."""

RECEIVING: Final = _named("RECEIVE_")
"""A member reads a reply, or gives a request up."""

PROCESSES: Final = frozenset({ActionKind.CRASH, ActionKind.RESTART, ActionKind.ROLLING_RESTART})
"""A process ends or begins, with the next list of an upgrade path perhaps."""

ARRIVING: Final = frozenset({
    ActionKind.JOIN_GROUP, ActionKind.SYNC_GROUP, ActionKind.HEARTBEAT, ActionKind.LEAVE_GROUP, ActionKind.OFFSET_COMMIT
})  # fmt: skip
"""A member's request reaches the coordinator."""

FORMING: Final = frozenset({ActionKind.JOIN_GROUP, ActionKind.SYNC_GROUP, ActionKind.COMMIT_APPEND}) | _named(
    "SEND_JOIN", "RECEIVE_JOIN", "RECEIVE_SYNC", "RECEIVE_ERROR", "EXPIRE_INITIAL"
)
"""The steps from no group to one whose members all have their assignment."""

ON_OTHER_CONNECTIONS: Final = frozenset({
    ActionKind.HEARTBEAT_DURING_SYNC, ActionKind.COMMIT_DURING_JOIN, ActionKind.COMMIT_WITHOUT_GROUP
})  # fmt: skip
"""Requests that overtake those on their way, and requests of clients outside of the group."""

TIMERS: Final = _named("EXPIRE_")
"""A timer of the coordinator is due."""

OPERATOR: Final = frozenset({ActionKind.DELETE_GROUP})
"""An operator deletes the group."""

NETWORK: Final = _named("DUPLICATE_", "DELIVER_", "LOSE_", "DROP_")
"""The network doubles or loses a message, or a connection breaks."""

FAILING_OVER: Final = frozenset(
    kind for kind in ALL_KINDS if kind.name.endswith("_COORDINATOR") or kind is ActionKind.COMMIT_APPEND
)
"""A record is replicated, or the coordinator is replaced, by steps."""


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
