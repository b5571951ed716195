"""The claims about Connect workers, in the order in which reports name them."""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.connect import (
    accepting,
    agreement,
    announcing,
    asked_writes,
    asking,
    away,
    balancing,
    claiming,
    duties,
    ending,
    fencing,
    giving_up,
    postponing,
    reaching,
    rounds,
    running,
    signing,
    starting,
    status_removal,
    statuses,
    taking,
    targets,
    topic_resets,
    topics,
    waiting,
    waking,
)
from rebalance_check.properties.kinds import Invariant

ConnectWorkers: Final[tuple[Invariant, ...]] = (
    *agreement.CLAIMS,
    *claiming.CLAIMS,
    *rounds.CLAIMS,
    *waiting.CLAIMS,
    *postponing.CLAIMS,
    *taking.CLAIMS,
    *balancing.CLAIMS,
    *running.CLAIMS,
    *giving_up.CLAIMS,
    *away.CLAIMS,
    *ending.CLAIMS,
    *accepting.CLAIMS,
    *targets.CLAIMS,
    *reaching.CLAIMS,
    *statuses.CLAIMS,
    *status_removal.CLAIMS,
    *announcing.CLAIMS,
    *topics.CLAIMS,
    *topic_resets.CLAIMS,
    *starting.CLAIMS,
    *duties.CLAIMS,
    *asking.CLAIMS,
    *waking.CLAIMS,
    *asked_writes.CLAIMS,
    *fencing.CLAIMS,
    *signing.CLAIMS,
)
"""Every claim of the families ``connect_rounds``, ``connect_work``, ``connect_statuses`` and ``connect_duties``."""
