"""The settings of a group member, with Kafka's names and defaults."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.impl.protocol.consumer_protocol import HIGHEST_VERSION
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """Settings of one member; times in ms.

    ``rebalance_timeout_ms`` is ``max.poll.interval.ms`` for a consumer and ``rebalance.timeout.ms`` for a worker: the
    longest time between two polls, and what the coordinator grants for joining. The retry backoff of heartbeats and
    look-ups doubles up to its maximum. The versions say which version of each API this client speaks, and which of the
    subscriptions of consumers.
    """

    group_id: str
    client_id: str = ""
    group_instance_id: str | None = None
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    rebalance_timeout_ms: int = 300_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    leave_on_close: bool = True
    find_coordinator_version: int = 4
    join_group_version: int = 9
    sync_group_version: int = 5
    heartbeat_version: int = 4
    leave_group_version: int = 5
    offset_commit_version: int = 8
    offset_fetch_version: int = 7
    subscription_version: int = HIGHEST_VERSION

    def __post_init__(self) -> None:
        if not 0 < self.heartbeat_interval_ms < self.session_timeout_ms:
            raise RebalanceCheckError(
                f"heartbeat_interval_ms is {self.heartbeat_interval_ms}: choose one above 0 and below "
                f"session_timeout_ms, which is {self.session_timeout_ms}"
            )
