"""A live broker and the virtual Kafka of the same release perform the same scenarios, and must answer alike."""

from rebalance_check.integration.differential.live_scenario import Divergence
from rebalance_check.integration.differential.live_vs_virtual import ComparisonResult, hold_equal

__all__ = ["ComparisonResult", "Divergence", "hold_equal"]
