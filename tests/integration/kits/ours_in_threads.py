"""Groups of our own client in threads, each behind fronts of its own, so that a run takes a second or two."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rebalance_check.impl.client.failures import GroupError
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.faults import FaultPlan
from rebalance_check.integration.exchange.proxy import RecordingProxy
from rebalance_check.integration.kits.adapters.ours.consumer import arguments, consume
from rebalance_check.integration.kits.client import operator
from rebalance_check.integration.kits.client.recording import Recording
from rebalance_check.integration.kits.client.view import GroupView
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import ProcessEnded, ProcessSignalled, ProcessStarted, RunEnded, RunStarted

TIMEOUT_S = 30.0
SESSION_MS, HEARTBEAT_MS, REBALANCE_MS, COMMIT_MS = 10_000, 100, 10_000, 300
"""Timeouts that no client exceeds on a loaded machine; a play that waits for one asks for less."""
SHORT_MS = 1_500


class OurGroup:
    """A group on the embedded broker, recorded by a proxy; a context manager. ``history`` is complete afterwards."""

    def __init__(self, history: Path, *, nodes: int = 0) -> None:
        self.history = history
        self.faults = FaultPlan()
        self.view = GroupView()
        self._changed = threading.Condition()
        self._recording = Recording(history, "g", self.view, self._changed)
        self._run, self._harness = self._recording.recorder("run"), self._recording.recorder("harness")
        self._nodes = nodes
        self._stack = ExitStack()
        self._runs: dict[str, tuple[int, threading.Thread, threading.Event]] = {}
        self._statuses: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._broker = self._stack.enter_context(EmbeddedBroker({"t": 4}))
        self._run.emit(RunStarted(subject="ours"))
        self.proxy = self._stack.enter_context(
            RecordingProxy(
                self._broker.bootstrap, listener=self._recording, faults=self.faults, virtual_nodes=self._nodes
            )
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in [*self._runs]:
            self.stop(name)
        self._run.emit(RunEnded())
        self._stack.close()
        self._recording.close()

    def start(self, name: str, slip: str = "", instance: str = "", **more: Any) -> None:
        """Start a client; ``more`` are further arguments of the program."""
        options: dict[str, Any] = {
            "bootstrap": self.proxy.bootstrap_for(name), "group": "g", "topic": "t", "session-ms": SESSION_MS,
            "heartbeat-ms": HEARTBEAT_MS, "rebalance-ms": REBALANCE_MS, "commit-ms": COMMIT_MS,
        }  # fmt: skip
        options |= {"instance": instance} if instance else {}
        options |= {"slip": slip} if slip else {}
        options |= {option.replace("_", "-"): value for option, value in more.items()}
        line = [part for option, value in options.items() for part in (f"--{option}", str(value))]
        run, stopping = self._runs[name][0] + 1 if name in self._runs else 1, threading.Event()
        thread = threading.Thread(target=self._consume, args=(name, line, stopping), name=name)
        self._harness.emit(ProcessStarted(process=name, run=run))
        self._runs[name] = run, thread, stopping
        thread.start()

    def _consume(self, name: str, line: list[str], stopping: threading.Event) -> None:
        status = 0
        try:
            consume(arguments(line), stopping)
        except GroupError:
            status = 1
        self._harness.emit(ProcessEnded(process=name, exit_status=status, asked=stopping.is_set()))

    def stop(self, name: str) -> None:
        """Ask a client to end, and wait until it has."""
        _, thread, stopping = self._runs[name]
        if thread.is_alive():
            self._harness.emit(ProcessSignalled(process=name, signal="terminate"))
        stopping.set()
        thread.join(TIMEOUT_S)
        assert not thread.is_alive(), f"{name} does not end"

    def remove(self, name: str) -> None:
        """Remove a client's member behind its back."""
        operator.remove_member(self._broker.bootstrap, "g", self.view.of(name).member_id)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so."""
        with self._changed:
            assert self._changed.wait_for(is_so, TIMEOUT_S), self.view.described()

    def settled(self, *names: str) -> None:
        """Wait until these clients are members of one generation, with a heartbeat each from now on."""
        mark = self.view.count
        self.until(lambda: self.view.is_settled(names, mark))

    def sends(self, name: str, api: Api, more: int) -> None:
        """Wait until a client has sent so many more requests of an api."""
        wanted = self.view.of(name).requests[api] + more
        self.until(lambda: self.view.of(name).requests[api] >= wanted)
