"""Checksums that stand in events for bytes."""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from rebalance_check.impl.protocol.messages import JoinProtocol


def metadata_digest(protocols: Iterable[JoinProtocol]) -> str:
    """A checksum that stands in events for the protocols of a JoinGroup, with the bytes of each."""
    digest = 0
    for protocol in protocols:
        digest = crc32(protocol.metadata, crc32(protocol.name.encode() + b"\0", digest))
    return f"{digest:08x}"


def assignment_digest(assignment: bytes) -> str:
    """A checksum that stands for an assignment in events; empty for none."""
    return f"{crc32(assignment):08x}" if assignment else ""
