"""A process of this machine that can be sent signals: a node of Kafka, a Connect worker."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from rebalance_check.integration.brokers.local import log_tail
from rebalance_check.integration.parent import ended_with_parent


class ControlledProcess:
    """The process of ``command``, started again after each end.

    ``name`` is its name in `death`; the file ``log`` takes its output.
    """

    def __init__(self, name: str, command: list[str], log: Path) -> None:
        self._name = name
        self._command = command
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process; returns before it is ready."""
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                ended_with_parent(self._command),
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        """Kill the process and its children, and wait until it has ended."""
        process = self._process
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def pause(self) -> None:
        """Stop the process and its children where they stand (SIGSTOP); their connections stay open."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the process and its children run on (SIGCONT)."""
        self._signal_all(signal.SIGCONT)

    def death(self) -> str | None:
        """How the process ended, or None while it runs."""
        code = None if self._process is None else self._process.poll()
        return None if code is None else f"{self._name} ended with exit code {code}: {log_tail(self._log)}"

    def _signal_all(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)
