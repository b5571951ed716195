"""Kafka's own Java assignors of any release as an oracle: problems in, their answers out."""

from rebalance_check.integration.comparison.assignors.assignors import JavaAssignors, OurAssignors

__all__ = ["JavaAssignors", "OurAssignors"]
