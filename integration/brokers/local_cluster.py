"""A cluster of Kafka nodes with plain ``java``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rebalance_check.integration.brokers.local import (
    format_storage,
    free_ports,
    jars_folder,
    java_command,
    kafka_version,
)
from rebalance_check.integration.brokers.nodes import Cluster
from rebalance_check.integration.brokers.process import ControlledProcess
from rebalance_check.integration.brokers.settings import JVM_OPTIONS, MAIN_CLASS, NodeAddress, cluster_properties


class LocalNode(ControlledProcess):
    """A node as a process. ``folder`` holds its settings, its log and its data."""

    def __init__(self, command: list[str], address: NodeAddress, folder: Path) -> None:
        self.bootstrap = address.advertised
        self._java = command
        self._properties = folder / "server.properties"
        super().__init__(f"node {address.number}", [*command, MAIN_CLASS, str(self._properties)], folder / "kafka.log")

    def format(self) -> None:
        """Prepare its folder."""
        with self._log.open("wb") as output:
            format_storage(self._java, self._properties, output)


@contextmanager
def local_cluster(size: int, jars: Path | None = None) -> Iterator[tuple[Cluster, str]]:
    """Run ``size`` nodes and yield them with their release, not yet ready; all is gone afterwards."""
    folder = jars_folder(jars)
    version = kafka_version(folder)
    command = [java_command(), *JVM_OPTIONS, "-cp", f"{folder}/*"]
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rebalance-check-kafka-")))
        addresses = _addresses(size)
        nodes: dict[int, LocalNode] = {}
        for address in addresses:
            place = home / str(address.number)
            place.mkdir()
            (place / "server.properties").write_text(cluster_properties(address, addresses, str(place / "data")))
            node = nodes[address.number] = LocalNode(command, address, place)
            node.format()
            stack.callback(node.kill)
            node.start()
        yield Cluster(nodes), version


def _addresses(size: int) -> list[NodeAddress]:
    ports = iter(free_ports(3 * size))
    addresses = []
    for number in range(1, size + 1):
        clients, internal, controller = (f"127.0.0.1:{next(ports)}" for _ in range(3))
        addresses.append(NodeAddress(number, clients, clients, internal, internal, controller, controller))
    return addresses
