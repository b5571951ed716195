"""A worker of ours as its operator sees it."""

from __future__ import annotations

import sys

import msgspec

from rebalance_check.integration.connect.ours.order import WorkerOrder
from rebalance_check.integration.connect.settings import ClusterNames, ConnectConfig
from rebalance_check.integration.connect.worker import ProcessWorker, WorkerPlace

MODULE = "rebalance_check.integration.connect.ours.process"


class OurWorker(ProcessWorker):
    """A worker of ours as a process of this machine, in the cluster of these ``names``."""

    def __init__(
        self, place: WorkerPlace, names: ClusterNames, bootstrap: str, port: int, config: ConnectConfig
    ) -> None:
        order = WorkerOrder(
            member=place.name, store=place.store, bootstrap=bootstrap, group=names.group, configs=names.configs,
            statuses=names.statuses,
            port=port, recording=str(place.recording), journal=str(place.journal), mode=config.mode,
            session_timeout_ms=config.session_timeout_ms, heartbeat_interval_ms=config.heartbeat_interval_ms,
            rebalance_timeout_ms=config.rebalance_timeout_ms,
            scheduled_rebalance_max_delay_ms=config.scheduled_rebalance_max_delay_ms,
        )  # fmt: skip
        super().__init__(place, [sys.executable, "-m", MODULE, msgspec.json.encode(order).decode()])
