"""A cluster of Kafka nodes in containers of one network: kill, pause and restart are Docker's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from docker.errors import APIError
from testcontainers.core.config import testcontainers_config
from testcontainers.core.network import Network

from rebalance_check.integration.brokers.container import (
    DEFAULT_IMAGE,
    IMAGE_SETTING,
    LABEL,
    RealKafka,
    free_port,
    require_docker,
    start_container,
    version_of,
)
from rebalance_check.integration.brokers.nodes import Cluster
from rebalance_check.integration.brokers.settings import NodeAddress, cluster_properties

CLIENT_PORT, INTERNAL_PORT, CONTROLLER_PORT = 9092, 9093, 9094
DATA: Final = "/tmp/kafka-data"
FREEZE_TRIES: Final = 5


class ContainerNode:
    """A node as a container."""

    def __init__(self, kafka: RealKafka) -> None:
        self.bootstrap = kafka.bootstrap
        self._kafka = kafka

    def start(self) -> None:
        """Start the container again, on its disk."""
        self._kafka.get_wrapped_container().start()

    def kill(self) -> None:
        """Kill the container, and wait until it has ended."""
        container = self._kafka.get_wrapped_container()
        container.kill()
        container.wait()

    def pause(self) -> None:
        """Freeze the container. On a busy machine the kernel may fail to, and leaves it running: it is asked again."""
        for tries_left in reversed(range(FREEZE_TRIES)):
            try:
                self._kafka.get_wrapped_container().pause()
            except APIError as error:
                if not tries_left or "unable to freeze" not in str(error):
                    raise
            else:
                return

    def resume(self) -> None:
        """Let the container run on."""
        self._kafka.get_wrapped_container().unpause()

    def death(self) -> str | None:
        """How the container ended, or None while it runs."""
        return self._kafka.death()


@contextmanager
def containered_cluster(size: int, image: str | None = None) -> Iterator[tuple[Cluster, str]]:
    """Run ``size`` nodes and yield them with their release, not yet ready; all is gone afterwards."""
    name = image or os.environ.get(IMAGE_SETTING) or DEFAULT_IMAGE
    testcontainers_config.ryuk_disabled = True  # as for a single node: we remove our own containers
    require_docker()
    with ExitStack() as stack:
        network = stack.enter_context(Network(docker_network_kw={"labels": {LABEL: "kafka"}}))
        ports = [free_port() for _ in range(size)]
        addresses = [_address(number, port) for number, port in enumerate(ports, 1)]
        nodes: dict[int, ContainerNode] = {}
        for address, port in zip(addresses, ports, strict=True):
            properties = cluster_properties(address, addresses, DATA)
            kafka = RealKafka(name, port=port, properties=properties)
            kafka.with_network(network).with_network_aliases(_alias(address.number))
            nodes[address.number] = ContainerNode(start_container(kafka, stack))
        yield Cluster(nodes), version_of(name)


def _alias(number: int) -> str:
    return f"kafka{number}"


def _address(number: int, port: int) -> NodeAddress:
    alias = _alias(number)
    return NodeAddress(
        number=number,
        listen=f"0.0.0.0:{CLIENT_PORT}",
        advertised=f"127.0.0.1:{port}",
        internal_listen=f"0.0.0.0:{INTERNAL_PORT}",
        internal=f"{alias}:{INTERNAL_PORT}",
        controller_listen=f"0.0.0.0:{CONTROLLER_PORT}",
        controller=f"{alias}:{CONTROLLER_PORT}",
    )
