"""The claims about Connect workers, in the order in which reports name them."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.connect import (
    accepting,
    agreement,
    away,
    duties,
    fencing,
    giving_up,
    rounds,
    running,
    waiting,
)
from rebalance_check.properties.kinds import Invariant

ConnectWorkers: Final[tuple[Invariant, ...]] = (
    *agreement.CLAIMS,
    *rounds.CLAIMS,
    *waiting.CLAIMS,
    *running.CLAIMS,
    *giving_up.CLAIMS,
    *away.CLAIMS,
    *accepting.CLAIMS,
    *duties.CLAIMS,
    *fencing.CLAIMS,
)
"""Every claim of the families ``connect_rounds``, ``connect_work`` and ``connect_duties``."""
