"""A live broker and the virtual Kafka of the same release are told the same scenarios, and must say the same."""

from rebalance_check.integration.differential.live_scenario import Divergence
from rebalance_check.integration.differential.live_vs_virtual import ComparisonResult, hold_equal, twin_of

__all__ = ["ComparisonResult", "Divergence", "hold_equal", "twin_of"]
