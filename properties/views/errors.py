"""The errors, faults and protocols that claims about the wire read, by their names on the wire."""

from __future__ import annotations

from typing import Final

NONE: Final = "NONE"
MEMBER_ID_REQUIRED: Final = "MEMBER_ID_REQUIRED"
UNKNOWN_MEMBER_ID: Final = "UNKNOWN_MEMBER_ID"
ILLEGAL_GENERATION: Final = "ILLEGAL_GENERATION"
REBALANCE_IN_PROGRESS: Final = "REBALANCE_IN_PROGRESS"
FENCED_INSTANCE_ID: Final = "FENCED_INSTANCE_ID"

LOSSES: Final = frozenset({UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, FENCED_INSTANCE_ID})
"""A client that receives one of them about its present identity belongs to no generation any more."""

NOT_THE_COORDINATOR: Final = frozenset({"NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"})
"""Another node coordinates the group, or none does: the client looks the coordinator up."""

COORDINATOR_ERRORS: Final = NOT_THE_COORDINATOR | {"COORDINATOR_LOAD_IN_PROGRESS"}
"""They say nothing about the membership."""

UNSEEN: Final = frozenset({"drop-reply", "close-before", "close-after"})
"""The faults after which the client never sees the reply."""

EAGER: Final = frozenset({"range", "roundrobin", "sticky"})
"""Kafka's assignors that withhold nothing: owners must have given up all that they assign before (KIP-429)."""
COOPERATIVE: Final = "cooperative-sticky"
"""Kafka's assignor that withholds a partition until its owner has revoked it, under the name that all clients use."""
CONSUMER: Final = "consumer"
"""The protocol type of consumers."""

TERMINATE, KILL, PAUSE, RESUME = "terminate", "kill", "pause", "resume"
"""The signals that the harness sends."""
