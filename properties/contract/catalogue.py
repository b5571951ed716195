"""Every claim of the family ``contract``."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.contract import (
    applying,
    callbacks,
    committing,
    polling,
    sending,
)
from rebalance_check.properties.kinds import Invariant

ContractClaims: Final[tuple[Invariant, ...]] = (
    *callbacks.CLAIMS,
    *applying.CLAIMS,
    *committing.CLAIMS,
    *sending.CLAIMS,
    *polling.CLAIMS,
)
"""In the order in which reports name them."""
