"""Every claim of the family ``need``."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.need import (
    coordinating,
    giving_up,
    joining,
    leaving,
    working,
)

NeedClaims: Final[tuple[Invariant, ...]] = (
    *joining.CLAIMS,
    *giving_up.CLAIMS,
    *leaving.CLAIMS,
    *coordinating.CLAIMS,
    *working.CLAIMS,
)
"""In the order in which reports name them."""
