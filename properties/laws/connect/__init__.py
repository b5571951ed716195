"""Connect: the rounds of a group of Kafka Connect workers, and the connectors and tasks that its workers run."""

from typing import Final

from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws.connect import at_rest, rounds, work

LAWS: Final[tuple[Invariant, ...]] = (*rounds.LAWS, *work.LAWS, *at_rest.LAWS)
"""In the order in which reports name them."""
