"""A Java Connect worker as its operator sees it: a process that is started, paused, killed, stopped in good order."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from rebalance_check.integration.brokers.process import ControlledProcess
from rebalance_check.integration.connect.workers.build import JDK, connector_classes, release_of
from rebalance_check.integration.connect.workers.settings import JVM_OPTIONS, MAIN_CLASS, SIMPLE_LOGGER, logging_setup
from rebalance_check.integration.jvm import java_tool

STOP_TIMEOUT_S: Final = 40.0
JOURNAL: Final = "journal"
RECORDING: Final = "events.raw"
LOG: Final = "worker.log"
PROPERTIES: Final = "worker.properties"


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """A worker's place on disk: its name, its folder with the journal and the log, and the folder of the controls.

    ``start`` counts the starts of the name, from 1.
    """

    name: str
    folder: Path
    controls: Path
    start: int = 1

    @property
    def store(self) -> str:
        """How events of the status store call this process: ``w0``, later ``w0/2``."""
        return self.name if self.start == 1 else f"{self.name}/{self.start}"

    @property
    def journal(self) -> Path:
        """The journal of the work that really ran."""
        return self.folder / JOURNAL

    @property
    def recording(self) -> Path:
        """The events that a worker of ours recorded; a Java worker has none."""
        return self.folder / RECORDING

    @property
    def log(self) -> Path:
        """Kafka's log."""
        return self.folder / LOG

    @property
    def properties(self) -> Path:
        """The worker's settings."""
        return self.folder / PROPERTIES


class ConnectWorker(Protocol):
    """A worker that can be sent signals. After its end it can be started again, with the properties of that time."""

    def start(self) -> None:
        """Start it; returns before it is ready."""
        ...

    def stop(self) -> None:
        """Ask it to end in good order, and wait for that."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    def pause(self) -> None:
        """Stop it where it stands; its connections stay open."""
        ...

    def resume(self) -> None:
        """Let it run on."""
        ...

    def death(self) -> str | None:
        """How it ended, or None while it runs."""
        ...


class ProcessWorker(ControlledProcess):
    """A worker as a process of this machine, which ``command`` starts."""

    def __init__(self, place: WorkerPlace, command: list[str]) -> None:
        super().__init__(f"worker {place.name}", command, place.log)

    def stop(self) -> None:
        """SIGTERM, and wait; a process that takes too long is killed."""
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.kill()


class LocalWorker(ProcessWorker):
    """A Java worker as a process of this machine."""

    def __init__(self, place: WorkerPlace, version: str) -> None:
        release = release_of(version)
        class_path = os.pathsep.join([str(connector_classes(release)), f"{release.jars}/*"])
        command = [
            java_tool("java", *JDK), *JVM_OPTIONS, *SIMPLE_LOGGER, *setup_logging(place, version),
            *journal_options(place), "-cp", class_path, MAIN_CLASS, str(place.properties),
        ]  # fmt: skip
        super().__init__(place, command)


def setup_logging(place: WorkerPlace, version: str) -> list[str]:
    """Write how the worker logs into its folder; the JVM's option that says so."""
    name, text, option = logging_setup(version)
    path = place.folder / name
    path.write_text(text)
    return [f"{option}{path}"]


def journal_options(place: WorkerPlace) -> list[str]:
    """The JVM's options that the recording connector reads."""
    return [
        f"-Drebalancecheck.journal={place.journal}",
        f"-Drebalancecheck.control={place.controls}",
        f"-Drebalancecheck.worker={place.name}",
    ]
