"""One process of the client under test: started, signalled and watched, and each of that is an event."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.brokers.process import ControlledProcess
from rebalance_check.model.vocabulary.wire_events import ProcessEnded, ProcessSignalled, ProcessStarted

WATCHER_TIMEOUT_S: Final = 10.0
"""How long the thread that waits for the end of a killed process may take to notice it."""


class ClientProcess(ControlledProcess):
    """The process ``name`` of a client, which ``command`` starts, again after each end.

    ``recorder`` takes its events, from several threads; the file ``log`` takes its output, of all runs.
    """

    def __init__(self, name: str, command: list[str], log: Path, recorder: Recorder) -> None:
        super().__init__(name, command, log)
        self.name = name
        self._recorder = recorder
        self._runs = 0
        self._asked = False
        self._watcher: threading.Thread | None = None

    @property
    def runs(self) -> bool:
        """Whether it runs, or is paused."""
        return self._process is not None and self._process.poll() is None

    @property
    def has_ended_unasked(self) -> bool:
        """Whether it was started and has ended without being asked to."""
        return self._runs > 0 and not self._asked and not self.runs

    def start(self) -> None:
        """Start it; returns before it has connected."""
        self._await_watcher()
        self._runs += 1
        self._asked = False
        self._recorder.emit(ProcessStarted(process=self.name, run=self._runs))
        super().start()
        self._watcher = threading.Thread(target=self._watch, name=f"{self.name}-watcher", daemon=True)
        self._watcher.start()

    def terminate(self) -> None:
        """Ask the process to close and end (SIGTERM); its children are for it to end."""
        self._ask("terminate")
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        """Kill it and its children, and return when its end is recorded."""
        if self.runs:
            self._ask("kill")
        super().kill()
        self._await_watcher()

    def pause(self) -> None:
        """Stop it where it stands."""
        self._recorder.emit(ProcessSignalled(process=self.name, signal="pause"))
        super().pause()

    def resume(self) -> None:
        """Let it run on."""
        self._recorder.emit(ProcessSignalled(process=self.name, signal="resume"))
        super().resume()

    def _ask(self, signal: str) -> None:
        self._asked = True
        self._recorder.emit(ProcessSignalled(process=self.name, signal=signal))

    def _watch(self) -> None:
        assert self._process is not None
        status = self._process.wait()
        self._recorder.emit(ProcessEnded(process=self.name, exit_status=status, asked=self._asked))

    def _await_watcher(self) -> None:
        if self._watcher is not None:
            self._watcher.join(WATCHER_TIMEOUT_S)
