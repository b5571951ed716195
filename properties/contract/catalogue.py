"""Every claim of the family ``contract``."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.contract import (
    applying,
    auto_commits,
    awaiting_commits,
    callbacks,
    closing,
    committing,
    giving_up,
    heartbeats,
    leaving,
    polling,
    preparing,
    refreshing,
    repeating,
    seeking,
    sending,
    versions,
    waking,
)
from rebalance_check.properties.kinds import Invariant

ContractClaims: Final[tuple[Invariant, ...]] = (
    *callbacks.CLAIMS,
    *preparing.CLAIMS,
    *leaving.CLAIMS,
    *applying.CLAIMS,
    *committing.CLAIMS,
    *sending.CLAIMS,
    *heartbeats.CLAIMS,
    *polling.CLAIMS,
    *seeking.CLAIMS,
    *closing.CLAIMS,
    *waking.CLAIMS,
    *repeating.CLAIMS,
    *versions.CLAIMS,
    *auto_commits.CLAIMS,
    *refreshing.CLAIMS,
    *awaiting_commits.CLAIMS,
    *giving_up.CLAIMS,
)
"""In the order in which reports name them."""
