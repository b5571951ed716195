"""A worker of ours as its operator sees it."""

from __future__ import annotations

import sys

import msgspec

from rebalance_check.integration.connect.workers.ours.order import WorkerOrder
from rebalance_check.integration.connect.workers.settings import ClusterNames, ConnectConfig
from rebalance_check.integration.connect.workers.worker import ProcessWorker, WorkerPlace
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MODULE = "rebalance_check.integration.connect.workers.ours.process"


class OurWorker(ProcessWorker):
    """A worker of ours as a process of this machine, in the cluster of these ``names``.

    Raises:
        RebalanceCheckError: a setting of ``config`` is one that a worker of ours does not have.
    """

    def __init__(
        self, place: WorkerPlace, names: ClusterNames, bootstrap: str, port: int, config: ConnectConfig
    ) -> None:
        require_known_settings(place.name, config)
        order = WorkerOrder(
            member=place.name, store=place.store, bootstrap=bootstrap, group=names.group, configs=names.configs,
            statuses=names.statuses,
            port=port, recording=str(place.recording), journal=str(place.journal), mode=config.mode,
            session_timeout_ms=config.session_timeout_ms, heartbeat_interval_ms=config.heartbeat_interval_ms,
            rebalance_timeout_ms=config.rebalance_timeout_ms,
            scheduled_rebalance_max_delay_ms=config.scheduled_rebalance_max_delay_ms,
            task_shutdown_graceful_timeout_ms=config.task_shutdown_graceful_timeout_ms,
        )  # fmt: skip
        super().__init__(place, [sys.executable, "-m", MODULE, msgspec.json.encode(order).decode()])


def require_known_settings(worker: str, config: ConnectConfig) -> None:
    """Refuse settings that a worker of ours would ignore in silence: transactions, and settings that are given by name.

    Raises:
        RebalanceCheckError: exactly-once sources are enabled, or ``config.more`` is not empty.
    """
    if config.exactly_once:
        raise RebalanceCheckError(
            f"exactly.once.source.support is enabled, and the worker {worker} is one of ours, whose producers have no "
            "transactions: start a Java worker in its place, or disable it"
        )
    if config.more:
        raise RebalanceCheckError(
            f"the worker {worker} is one of ours, which does not know {', '.join(sorted(config.more))}: "
            "leave these settings out, or start a Java worker in its place"
        )
