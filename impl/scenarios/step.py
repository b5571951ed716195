"""One step of a scenario, as those see it who watch over what a coordinator promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.messages import DescribedGroup, GroupRequest
from rebalance_check.impl.scenarios.runner import Observed

PREPARING: Final = "PreparingRebalance"
COMPLETING: Final = "CompletingRebalance"
STABLE: Final = "Stable"


class Sent(NamedTuple):
    """A request that a step sent, and by whom."""

    token: int
    name: str
    request: GroupRequest


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a scenario: what was said, sent and observed, the group before and after, and who waits for an answer.

    ``generation`` is that after the step, None where nobody can tell it; ``pending_ids`` may still come back with the
    JoinGroup that they were handed out for (KIP-394); ``waiting`` are the requests without an answer. Times are in ms.
    """

    line: str
    sent: Sequence[Sent]
    observed: Sequence[Observed]
    before: DescribedGroup
    after: DescribedGroup
    generation: int | None
    pending_ids: frozenset[str]
    waiting: Mapping[int, GroupRequest]
    now_ms: int
    config: GroupConfig

    @property
    def command(self) -> str:
        """The first word."""
        return self.line.split()[0]

    def loses_records(self) -> bool:
        """Whether what was written may be gone."""
        return "lose=" in self.line or self.command == "delete"


Watch = Callable[[Step], str]
"""Sees every step in turn: how the promise is broken, or nothing."""


def members_of(group: DescribedGroup) -> set[str]:
    """The member ids that DescribeGroups shows."""
    return {member.member_id for member in group.members}
