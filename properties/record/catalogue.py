"""Every claim of the family ``record``."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.record import assigned, looks, memberships, naming, numbers, serving

RecordClaims: Final[tuple[Invariant, ...]] = (
    *serving.CLAIMS,
    *numbers.CLAIMS,
    *memberships.CLAIMS,
    *naming.CLAIMS,
    *assigned.CLAIMS,
    *looks.CLAIMS,
)
"""In the order in which reports name them."""
