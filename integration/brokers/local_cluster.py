"""A cluster of Kafka nodes with plain ``java``: processes that can be sent signals."""

from __future__ import annotations

import os
import signal
import subprocess
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
    log_tail,
)
from rebalance_check.integration.brokers.nodes import Cluster
from rebalance_check.integration.brokers.settings import JVM_OPTIONS, MAIN_CLASS, NodeAddress, cluster_properties
from rebalance_check.integration.parent import ended_with_parent


class LocalNode:
    """A node as a process. ``folder`` holds its settings, its log and its data."""

    def __init__(self, command: list[str], address: NodeAddress, folder: Path) -> None:
        self.bootstrap = address.advertised
        self._command = command
        self._number = address.number
        self._properties = folder / "server.properties"
        self._log = folder / "kafka.log"
        self._process: subprocess.Popen[bytes] | None = None

    def format(self) -> None:
        """Prepare its folder."""
        with self._log.open("wb") as output:
            format_storage(self._command, self._properties, output)

    def start(self) -> None:
        """Start the process, on its disk; returns before it is ready."""
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                ended_with_parent([*self._command, MAIN_CLASS, str(self._properties)]),
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        """Kill the process and its children, and wait until it has ended."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def pause(self) -> None:
        """Stop the process where it stands."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the process run on."""
        self._signal(signal.SIGCONT)

    def death(self) -> str | None:
        """How the process ended, or None while it runs."""
        code = None if self._process is None else self._process.poll()
        return None if code is None else f"node {self._number} ended with exit code {code}: {log_tail(self._log)}"

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)


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
