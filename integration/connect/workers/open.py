"""A cluster of Java workers for a broker: as containers where the broker is one, as processes otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.brokers.open import BrokerSpec
from rebalance_check.integration.connect.workers.cluster import ConnectCluster, Starter
from rebalance_check.integration.connect.workers.settings import ConnectConfig
from rebalance_check.integration.connect.workers.worker import ConnectWorker, LocalWorker, WorkerPlace
from rebalance_check.integration.jvm.release import DEFAULT_VERSION

_RELEASE: Final = re.compile(r"\b(\d+\.\d+\.\d+)\b")


def release_name(broker: Broker) -> str:
    """The release of the workers for a broker: the broker's own, where its name says it."""
    found = _RELEASE.search(broker.name.removeprefix(broker.bootstrap))
    return found[1] if found is not None else DEFAULT_VERSION


def open_connect(
    broker: Broker, spec: str, config: ConnectConfig | None = None, *, folder: Path | None = None,
    config_topic: Mapping[str, str] | None = None,
) -> ConnectCluster:  # fmt: skip
    """A cluster without workers yet, on ``broker``, which was opened as ``spec``.

    ``folder`` keeps the workers' files, ``config_topic`` are further settings of the config topic.

    Raises:
        RebalanceCheckError: the topics cannot be created.
    """
    version = release_name(broker)
    return ConnectCluster(
        broker.bootstrap, version, starter(spec, version), config, folder=folder, config_topic=config_topic
    )


def starter(spec: str, version: str) -> Starter:
    """How workers for a broker of this kind are started.

    Raises:
        RebalanceCheckError: there are no jars, no JDK, or no Docker.
    """
    if spec == BrokerSpec.TESTCONTAINERS:
        from rebalance_check.integration.connect.workers.containers import ContainerWorker  # noqa: PLC0415 - imports Docker

        return ContainerWorker

    def local(place: WorkerPlace) -> ConnectWorker:
        return LocalWorker(place, version)

    return local
