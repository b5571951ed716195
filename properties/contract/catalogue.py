"""Every claim of the family ``contract``."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.contract import callbacks, heartbeats, polling, preparing, sending
from rebalance_check.properties.kinds import Invariant

ContractClaims: Final[tuple[Invariant, ...]] = (
    *callbacks.CLAIMS,
    *preparing.CLAIMS,
    *sending.CLAIMS,
    *heartbeats.CLAIMS,
    *polling.CLAIMS,
)
"""In the order in which reports name them."""
