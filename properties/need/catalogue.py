"""Every claim of the family ``need``."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.need import (
    announcing,
    coordinating,
    generating,
    giving_up,
    joining,
    leaving,
    looking_up,
    reassigning,
    rebalancing,
    removing,
    working,
)

NeedClaims: Final[tuple[Invariant, ...]] = (
    *rebalancing.CLAIMS,
    *generating.CLAIMS,
    *removing.CLAIMS,
    *reassigning.CLAIMS,
    *joining.CLAIMS,
    *giving_up.CLAIMS,
    *leaving.CLAIMS,
    *coordinating.CLAIMS,
    *looking_up.CLAIMS,
    *working.CLAIMS,
    *announcing.CLAIMS,
)
"""In the order in which reports name them."""
