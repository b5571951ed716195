"""A real Kafka with plain ``java`` from a folder of jars: two seconds, no Docker."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Final

from rebalance_check.integration.brokers.readiness import await_ready
from rebalance_check.integration.brokers.settings import (
    CLUSTER_ID,
    FORMAT_CLASS,
    JVM_OPTIONS,
    MAIN_CLASS,
    server_properties,
)
from rebalance_check.integration.jvm import JARS_SETTING, java_tool
from rebalance_check.integration.parent import ended_with_parent
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

START_TIMEOUT_S: Final = 60.0
LOG_TAIL_LINES: Final = 15


def kafka_version(jars: Path) -> str:
    """The Kafka release in a folder of jars; `RebalanceCheckError` when there is none."""
    names = sorted(path.name for path in jars.glob("kafka_2.*.jar"))
    found = [match[1] for name in names if (match := re.fullmatch(r"kafka_2\.\d+-(\d[\w.-]*)\.jar", name))]
    if not found:
        raise RebalanceCheckError(
            f"{str(jars)!r} holds no Kafka (no file kafka_2.13-VERSION.jar): set {JARS_SETTING} to the folder with the "
            "jars of one release"
        )
    return found[0]


@contextmanager
def local_kafka(jars: Path | None = None) -> Iterator[tuple[str, str]]:
    """Run a Kafka node and yield its address and its release.

    ``jars`` is the folder of jars (default: the environment's REBALANCE_CHECK_KAFKA_JARS). Its files live in a new
    temporary folder; process and folder are gone afterwards, even after an error inside.
    """
    folder = jars_folder(jars)
    version = kafka_version(folder)
    java = java_command()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rebalance-check-kafka-")))
        port, controller_port = free_ports(2)
        properties = home / "server.properties"
        properties.write_text(
            server_properties(
                listen="127.0.0.1",
                port=port,
                controller_port=controller_port,
                advertised_port=port,
                log_dir=str(home / "data"),
            )
        )
        command = [java, *JVM_OPTIONS, "-cp", f"{folder}/*"]
        output = stack.enter_context((home / "kafka.log").open("wb"))
        format_storage(command, properties, output)
        process = stack.enter_context(_running([*command, MAIN_CLASS, str(properties)], output))
        address = f"127.0.0.1:{port}"
        await_ready(address, timeout_s=START_TIMEOUT_S, death=lambda: _death(process, home / "kafka.log"))
        yield address, version


def jars_folder(jars: Path | None) -> Path:
    """The folder of jars, by default the environment's; `RebalanceCheckError` when it names none."""
    if jars is None:
        setting = os.environ.get(JARS_SETTING)
        if not setting:
            raise RebalanceCheckError(
                f"a local Kafka needs a folder of jars and {JARS_SETTING} is not set: set it, or choose another broker"
            )
        jars = Path(setting)
    return jars.expanduser().resolve()


def java_command() -> str:
    """The path of ``java``; `RebalanceCheckError` when there is none."""
    return java_tool("java", "a local Kafka", 17)


def free_ports(count: int) -> list[int]:
    """Ports that were free just now, all different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def format_storage(command: list[str], properties: Path, output: IO[bytes]) -> None:
    """Prepare a node's folder with ``command``, the java to run; `RebalanceCheckError` with the log's end otherwise."""
    arguments = [FORMAT_CLASS, "format", "--cluster-id", CLUSTER_ID, "--config", str(properties)]
    done = subprocess.run(
        ended_with_parent([*command, *arguments]), stdout=output, stderr=output, check=False, timeout=START_TIMEOUT_S
    )
    if done.returncode != 0:
        raise RebalanceCheckError(
            f"Kafka's StorageTool failed with exit code {done.returncode}: {log_tail(properties.parent / 'kafka.log')}"
        )


@contextmanager
def _running(command: list[str], output: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """The process in a group of its own, so that an interrupt of ours does not race with its end.

    Its data is thrown away, so it is killed rather than asked; it also ends when this process is killed.
    """
    process = subprocess.Popen(
        ended_with_parent(command), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _death(process: subprocess.Popen[bytes], log: Path) -> str | None:
    code = process.poll()
    return None if code is None else f"Kafka ended with exit code {code} before it was ready: {log_tail(log)}"


def log_tail(log: Path) -> str:
    """The last lines of a log, for an error."""
    lines = log.read_text(errors="replace").splitlines()
    return f"its last lines: {' | '.join(lines[-LOG_TAIL_LINES:])}" if lines else "it printed nothing"
