"""Processes of the ready clients in one group, as the tests see them: what each owns, and how each ends."""

import queue
import subprocess
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Self

from rebalance_check.integration.kits.adapters.adapter import Adapter

PATIENCE_S = 60.0


class RunningGroup:
    """The processes of an adapter in one group, by the names that `start` was given; all are gone at the end."""

    def __init__(self, adapter: Adapter, bootstrap: str, topic: str) -> None:
        self.adapter = adapter
        self.owned: dict[str, list[str]] = {}
        self._filled = {"{bootstrap}": bootstrap, "{group}": "g", "{topic}": topic}
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._said: queue.Queue[tuple[str, str | None]] = queue.Queue()
        self._printed: list[str] = []
        self._stack = ExitStack()

    def start(self, name: str, protocol: str) -> None:
        """Start one more process; with short timings, so that a killed one is noticed soon."""
        command = self.adapter.command(protocol, session_ms=6_000, heartbeat_ms=300, rebalance_ms=6_000)
        process = subprocess.Popen(self._fill(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._stack.enter_context(process)
        self._stack.callback(process.kill)
        self._processes[name], self.owned[name] = process, []
        threading.Thread(target=self._read, args=(name, process), daemon=True).start()

    def await_shared(self, partitions: int) -> None:
        """Return when each process owns something, and all of it together is ``partitions`` different ones."""
        while not (all(self.owned.values()) and len(self._all()) == len(set(self._all())) == partitions):
            name, line = self._said.get(timeout=PATIENCE_S)
            if line is None:
                assert name not in self._processes, f"{name} ended by itself; printed so far: {self._printed}"
            elif line.startswith("owned") and name in self._processes:
                self.owned[name] = line.split()[1:]

    def kill(self, name: str) -> None:
        """End a process without a word."""
        self._remove(name).kill()

    def exit_code(self, name: str) -> int:
        """Ask a process to end with SIGTERM, and return its exit code."""
        process = self._remove(name)
        process.terminate()
        return process.wait(PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _remove(self, name: str) -> "subprocess.Popen[str]":
        del self.owned[name]
        return self._processes.pop(name)

    def _all(self) -> list[str]:
        return [partition for owned in self.owned.values() for partition in owned]

    def _fill(self, command: Sequence[str]) -> list[str]:
        return [self._filled.get(part, part) for part in command]

    def _read(self, name: str, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._printed.append(f"{name}: {line.strip()}")
            self._said.put((name, line.strip()))
        self._said.put((name, None))
