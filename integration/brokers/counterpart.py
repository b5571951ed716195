"""The virtual Kafka that a live broker is compared with."""

from __future__ import annotations

from rebalance_check.integration.brokers.open import Broker
from rebalance_check.integration.jvm.release import Release, find_release
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def virtual_counterpart(broker: Broker) -> Release:
    """The virtual Kafka that should do what a broker does: that of its release, and the coordinator that runs there by
    default. `RebalanceCheckError` for a broker whose release is not known."""
    kind, _, version = broker.name.partition(" ")
    if kind != "kafka":
        raise RebalanceCheckError(f"which Kafka {broker.name!r} is cannot be found out: choose local or testcontainers")
    return find_release(f"virtual:{version}{'-scala' if version.startswith('3.') else ''}")
