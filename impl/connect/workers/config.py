"""The settings of a Connect worker's member, with Kafka's names and Connect's defaults (not the consumer's)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

_TIMES: Final = (
    "scheduled_rebalance_max_delay_ms",
    "worker_sync_timeout_ms",
    "worker_unsync_backoff_ms",
    "task_shutdown_graceful_timeout_ms",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig(ClientConfig):
    """Settings of one worker (``DistributedConfig``); times in ms.

    ``connect_protocol`` is the mode that the worker is configured with: it offers this one and every older one.
    ``rebalance_timeout_ms`` is ``rebalance.timeout.ms``, the longest time between two polls and, as the coordinator
    grants it, for joining. ``revoke_on_downgrade`` is no setting of Kafka, and mends KAFKA-13816: a worker that was
    cooperative and then gets an eager assignment stops none of the work that this assignment leaves out.

    Raises: `RebalanceCheckError` for a group instance id, as workers are never static, and for a negative time.
    """

    session_timeout_ms: int = 10_000
    heartbeat_interval_ms: int = 3_000
    rebalance_timeout_ms: int = 60_000
    connect_protocol: ConnectMode = ConnectMode.SESSIONED
    scheduled_rebalance_max_delay_ms: int = 300_000
    worker_sync_timeout_ms: int = 3_000
    worker_unsync_backoff_ms: int = 300_000
    task_shutdown_graceful_timeout_ms: int = 5_000
    revoke_on_downgrade: bool = False

    def __post_init__(self) -> None:
        # super() without arguments does not find its class here: dataclass(slots=True) makes a new one
        ClientConfig.__post_init__(self)
        if self.group_instance_id is not None:
            raise RebalanceCheckError(
                f"group_instance_id is {self.group_instance_id!r}, but Connect workers are never static: drop it"
            )
        for name in _TIMES:
            if getattr(self, name) < 0:
                raise RebalanceCheckError(f"{name} is {getattr(self, name)}: choose 0 or more milliseconds")
        if not isinstance(self.connect_protocol, ConnectMode):
            raise RebalanceCheckError(
                f"connect_protocol is {self.connect_protocol!r}: write ConnectMode.parse({self.connect_protocol!r})"
            )
