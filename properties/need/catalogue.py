"""Every claim of the family ``need``."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.need import (
    rebalancing,
    removing,
    working,
)

NeedClaims: Final[tuple[Invariant, ...]] = (
    *rebalancing.CLAIMS,
    *removing.CLAIMS,
    *working.CLAIMS,
)
"""In the order in which reports name them."""
