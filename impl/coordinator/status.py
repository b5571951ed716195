"""The moves between the statuses of a classic group (``ClassicGroupState``)."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.group_status import GroupStatus

LEGAL_PREDECESSORS: Final[dict[GroupStatus, frozenset[GroupStatus]]] = {
    GroupStatus.EMPTY: frozenset({GroupStatus.PREPARING_REBALANCE}),
    GroupStatus.PREPARING_REBALANCE: frozenset(
        {GroupStatus.EMPTY, GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}
    ),
    GroupStatus.COMPLETING_REBALANCE: frozenset({GroupStatus.PREPARING_REBALANCE}),
    GroupStatus.STABLE: frozenset({GroupStatus.COMPLETING_REBALANCE}),
    GroupStatus.DEAD: frozenset(GroupStatus),
}
"""From where each status may be entered. Losing the last member always passes through PreparingRebalance, and so
bumps the generation: there is no way from Stable or CompletingRebalance straight to Empty."""


class IllegalTransition(AssertionError):  # noqa: N818 - the protocol's word for it
    """The coordinator itself is wrong: it tried a move that `LEGAL_PREDECESSORS` forbids."""


def assert_legal(group_id: str, current: GroupStatus, target: GroupStatus) -> None:
    """Raise `IllegalTransition` unless ``target`` may follow ``current``."""
    if current not in LEGAL_PREDECESSORS[target]:
        raise IllegalTransition(
            f"group {group_id!r} may not go from {current} to {target}: "
            f"{target} follows only {', '.join(sorted(LEGAL_PREDECESSORS[target]))}"
        )
