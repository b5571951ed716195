"""The memory of an incremental assignor from one round to the next; it is lost with the worker process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.connect.assignors.round import Item

_MULTIPLIER: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The memory of ``IncrementalCooperativeAssignor``, which only the leader brings up to date.

    ``scheduled_rebalance_ms`` is the time of the leader's clock at which lost work is assigned again (0: none is
    scheduled), ``delay_ms`` how far away that was in the last round. ``candidates`` joined empty-handed
    while lost work waited. ``successive_revocations`` counts revoking rounds that followed each other.
    """

    previous_assignment: frozenset[Item] = frozenset()
    previous_revocation: frozenset[Item] = frozenset()
    revoked_in_previous: bool = False
    candidates: tuple[str, ...] = ()
    scheduled_rebalance_ms: int = 0
    delay_ms: int = 0
    previous_generation: int = -1
    previous_members: frozenset[str] = frozenset()
    successive_revocations: int = 0


def backoff_ms(successive: int, max_delay_ms: int) -> int:
    """How long the next revocation for balance waits: 40, 1,600, 64,000 ms, then the maximum (KAFKA-12495)."""
    if max_delay_ms <= 1:
        return max_delay_ms
    exponent = min(successive, math.log(max_delay_ms) / math.log(_MULTIPLIER))
    return min(int(_MULTIPLIER**exponent), max_delay_ms)
