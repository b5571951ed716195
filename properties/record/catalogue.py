"""Every claim of the family ``record``."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.record import (
    assigned,
    beginnings,
    calls,
    commit_answers,
    config_writes,
    emptied,
    joined,
    listeners,
    looks,
    memberships,
    naming,
    numbers,
    operators,
    repeated_calls,
    serving,
    status_records,
    targets,
    wishes,
)

RecordClaims: Final[tuple[Invariant, ...]] = (
    *serving.CLAIMS,
    *numbers.CLAIMS,
    *memberships.CLAIMS,
    *naming.CLAIMS,
    *assigned.CLAIMS,
    *looks.CLAIMS,
    *emptied.CLAIMS,
    *commit_answers.CLAIMS,
    *listeners.CLAIMS,
    *calls.CLAIMS,
    *repeated_calls.CLAIMS,
    *beginnings.CLAIMS,
    *config_writes.CLAIMS,
    *status_records.CLAIMS,
    *targets.CLAIMS,
    *joined.CLAIMS,
    *operators.CLAIMS,
    *wishes.CLAIMS,
)
"""In the order in which reports name them."""
