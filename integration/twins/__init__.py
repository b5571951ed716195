"""A live broker and the virtual Kafka of the same release are told the same stories, and must say the same."""

from rebalance_check.integration.twins.equal import TwinResult, hold_equal, twin_of
from rebalance_check.integration.twins.story import Parted

__all__ = ["Parted", "TwinResult", "hold_equal", "twin_of"]
