"""The settings of a member's connections, with Kafka's names and defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionConfig:
    """Times in ms. A JoinGroup waits longer than ``request_timeout_ms``: see `driver.link`."""

    request_timeout_ms: int = 30_000
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    connection_setup_timeout_ms: int = 10_000
    metadata_max_age_ms: int = 300_000
