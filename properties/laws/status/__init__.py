"""Status: the duties of a store of statuses to its readers, and the statuses that workers write."""

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws.status import reads, workers, writes

LAWS: Final[tuple[Invariant, ...]] = (*writes.LAWS, *reads.LAWS, *workers.LAWS)
"""In the order in which reports name them."""
