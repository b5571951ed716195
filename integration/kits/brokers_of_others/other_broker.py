"""A broker of others: its sources, and how it is started and ended."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rebalance_check.integration.brokers.local import free_ports
from rebalance_check.integration.brokers.process import ControlledProcess
from rebalance_check.integration.kits.programs.program import Program
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import errors, metadata
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

START_TIMEOUT_S: Final = 30.0
PAUSE_S: Final = 0.05
LISTENING: Final = "listening "
"""The text in front of a broker's address in its output, if it chooses its port itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherBroker:
    """A broker of others: its ``name``, its ``program``, and the ``arguments`` for a port and for topics (``a:3,b:6``).

    ``chooses_port`` is for one that prints its address, ``creates_topics`` for one whose topics are created by request.
    """

    name: str
    program: Program
    arguments: Callable[[int, str], list[str]]
    chooses_port: bool = False
    creates_topics: bool = False

    @property
    def title(self) -> str:
        """Name and release: ``tansu 0.6.0``."""
        return f"{self.name} {self.program.release}"


@contextmanager
def running(broker: OtherBroker, topics: Mapping[str, int]) -> Iterator[str]:
    """The address of ``broker``, as a context manager: it answers ApiVersions inside, with ``topics``; gone outside.

    It is built if this was never done.

    Raises: `RebalanceCheckError` where it can't be built, ends, or doesn't answer in time.
    """
    (port,) = free_ports(1)
    described = ",".join(f"{name}:{partitions}" for name, partitions in topics.items())
    command = [*broker.program.command(), *broker.arguments(port, described)]
    with tempfile.TemporaryDirectory(prefix="rebalance-check-broker-") as folder:
        log = Path(folder) / "broker.log"
        process = ControlledProcess(broker.name, command, log)
        process.start()
        try:
            address = _await_answer(broker, process, log, port)
            if broker.creates_topics:
                for name, partitions in topics.items():
                    create_topic(address, name, partitions)
            yield address
        finally:
            process.kill()


def _await_answer(broker: OtherBroker, process: ControlledProcess, log: Path, port: int) -> str:
    def probe() -> NotYet | str:
        if (death := process.death()) is not None:
            raise RebalanceCheckError(death)
        address = _printed_address(log) if broker.chooses_port else f"127.0.0.1:{port}"
        return NotYet("it has printed no address") if address is None else _answering(address)

    return await_until(
        probe, timeout_s=START_TIMEOUT_S, pause_s=PAUSE_S, otherwise=f"{broker.name} does not answer ApiVersions"
    )


def _printed_address(log: Path) -> str | None:
    lines = log.read_text(errors="replace").splitlines()
    return next((line.removeprefix(LISTENING) for line in lines if line.startswith(LISTENING)), None)


def _answering(address: str) -> NotYet | str:
    try:
        with Connection(address) as connection:
            connection.call(metadata.ApiVersionsRequest(), 0)
    except (OSError, errors.KafkaError) as error:
        return NotYet(str(error) or type(error).__name__)
    return address
