"""Brokers to test against: one function, `open_broker`, for the embedded one, a local one, a container, or your own."""

from rebalance_check.integration.brokers.open import Broker, BrokerSpec, open_broker, open_cluster

__all__ = ["Broker", "BrokerSpec", "open_broker", "open_cluster"]
