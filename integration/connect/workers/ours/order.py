"""The order for a worker process of ours, as JSON on its command line."""

from __future__ import annotations

import msgspec

from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.impl.protocol.connect_protocol import ConnectMode


class WorkerOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The worker ``member``: the broker, its group and topics, its REST port, its files, and its settings in ms.

    ``store`` is the name of its status store, another one after a restart. ``recording`` receives its events,
    ``journal`` its running work, in the form of the recording connector.
    """

    member: str
    store: str
    bootstrap: str
    group: str
    configs: str
    statuses: str
    port: int
    recording: str
    journal: str
    mode: ConnectMode
    session_timeout_ms: int
    heartbeat_interval_ms: int
    rebalance_timeout_ms: int
    scheduled_rebalance_max_delay_ms: int
    task_shutdown_graceful_timeout_ms: int

    @property
    def url(self) -> str:
        """Where its REST interface is."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def worker_id(self) -> str:
        """How statuses call it."""
        return f"127.0.0.1:{self.port}"

    def config(self) -> WorkerConfig:
        """The settings of its member of the group."""
        return WorkerConfig(
            group_id=self.group,
            connect_protocol=self.mode,
            session_timeout_ms=self.session_timeout_ms,
            heartbeat_interval_ms=self.heartbeat_interval_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            scheduled_rebalance_max_delay_ms=self.scheduled_rebalance_max_delay_ms,
            task_shutdown_graceful_timeout_ms=self.task_shutdown_graceful_timeout_ms,
            worker_unsync_backoff_ms=2_000,
        )
