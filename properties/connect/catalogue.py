"""The claims about Connect workers, in the order in which reports name them."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.connect import accepting, agreement, announcing, away, duties, rounds, running, statuses
from rebalance_check.properties.kinds import Invariant

ConnectWorkers: Final[tuple[Invariant, ...]] = (
    *agreement.CLAIMS,
    *rounds.CLAIMS,
    *running.CLAIMS,
    *away.CLAIMS,
    *accepting.CLAIMS,
    *statuses.CLAIMS,
    *announcing.CLAIMS,
    *duties.CLAIMS,
)
"""Every claim of the families ``connect_rounds``, ``connect_work``, ``connect_statuses`` and ``connect_duties``."""
