"""Config: the records that workers read from the config topic of Kafka Connect, and those that they may write."""

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws.config import exactly_once, reads, writes

LAWS: Final[tuple[Invariant, ...]] = (*reads.LAWS, *writes.LAWS, *exactly_once.LAWS)
"""In the order in which reports name them."""
