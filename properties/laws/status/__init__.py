"""Status: what a store of statuses owes its readers, and what workers say in statuses."""

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws.status import reads, workers, writes

LAWS: Final[tuple[Invariant, ...]] = (*writes.LAWS, *reads.LAWS, *workers.LAWS)
"""In the order in which reports name them."""
