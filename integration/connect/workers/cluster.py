"""A cluster of Java Connect workers on a real broker: its workers, its topics, and its history."""

from __future__ import annotations

import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.brokers.local import free_ports
from rebalance_check.integration.connect.config.snapshot import seen_by_rest
from rebalance_check.integration.connect.config.topics import ClusterTopics
from rebalance_check.integration.connect.workers.awaiting import CHECK_S, AwaitedCluster
from rebalance_check.integration.connect.workers.controls import Controls
from rebalance_check.integration.connect.workers.crashes import require_no_crash, with_crashes
from rebalance_check.integration.connect.workers.journal import Stamped
from rebalance_check.integration.connect.workers.ours.worker import OurWorker
from rebalance_check.integration.connect.workers.rest import ConnectRest
from rebalance_check.integration.connect.workers.settings import ClusterNames, ConnectConfig, worker_properties
from rebalance_check.integration.connect.workers.worker import ConnectWorker, WorkerPlace
from rebalance_check.integration.connect.workers.worker_start import WorkerStart, merged
from rebalance_check.integration.machine_clock import wall_to_monotonic_ns
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.model.vocabulary.connect_events import ConnectAssignmentReceived, WorkerConfigured
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    RunEnded,
    RunSettled,
    RunStarted,
)

START_TIMEOUT_S: Final = 90.0
ROUND_S: Final = 10.0
"""How long a round takes at most that a worker asks for at once, in seconds."""
STATUS_S: Final = 30.0
"""How long a worker takes at most to write the statuses of its work, in seconds."""
HARNESS: Final = "harness"
OURS: Final = "rebalance-check"
CLIENT: Final = "connect-runtime"

Starter = Callable[[WorkerPlace], ConnectWorker]
"""Makes a worker of a place: as a process, or as a container."""


class ConnectCluster(AwaitedCluster):
    """Workers by name (``w0``), in one group with topics of their own.

    As a context manager it leaves no process behind. ``starter`` makes workers, ``version`` is Kafka's release.
    ``folder`` keeps journals, logs and settings (default: a temporary one, which goes with the cluster). Everything
    that is done to a worker is an event; `end` returns the history.
    """

    def __init__(
        self, bootstrap: str, version: str, starter: Starter, config: ConnectConfig | None = None, *,
        folder: Path | None = None, config_topic: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.config = config or ConnectConfig()
        self.version = version
        self.names = ClusterNames(f"connect-{uuid.uuid4().hex[:8]}")
        self.bootstrap = bootstrap
        self._starter = starter
        self._temporary = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="rebalance-check-connect-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        self.controls = Controls(self.folder / "controls")
        self._ports: dict[str, int] = {}
        self._current: dict[str, WorkerStart] = {}
        self._all: list[WorkerStart] = []
        self._events: list[Stamped] = []
        self._wall_to_monotonic_ns = wall_to_monotonic_ns()
        self.harness = Recorder(self.names.group, HARNESS, lambda: 0, self._note)
        self.topics = ClusterTopics(
            bootstrap,
            self.names,
            self._wall_to_monotonic_ns,
            config_topic or {},
            shows_configs=not self.config.exactly_once,
        )

    def _note(self, event: Event) -> None:
        self._events.append((time.monotonic_ns(), event))

    def __enter__(self) -> Self:
        self.harness.emit(RunStarted(subject=f"connect workers on kafka {self.version}"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for started in self._all:
            if not started.ended:
                started.worker.kill()
        with suppress(RebalanceCheckError):
            self.topics.close()
        if self._temporary and error is None:
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---------------------------------------------------------------------------------------- workers

    def start(self, *names: str, mode: ConnectMode | None = None, ours: bool = False) -> None:
        """Start workers and return when all answer: Java's, or ``ours``.

        ``mode`` is another ``connect.protocol`` than the cluster's.

        Raises:
            WorkerCrashedError: one ended.
            RebalanceCheckError: one takes too long.
        """
        for name in names:
            self._start(name, replace(self.config, mode=mode or self.config.mode), ours=ours)
        for name in names:
            self._await_answer(name)

    def _start(self, name: str, config: ConnectConfig, *, ours: bool) -> None:
        if name in self._current:
            raise RebalanceCheckError(f"worker {name} runs already: stop it first")
        start = 1 + sum(started.place.name == name for started in self._all)
        place = WorkerPlace(name, self.folder / f"{len(self._all):02d}-{name}", self.controls.folder, start)
        place.folder.mkdir()
        place.folder.chmod(0o777)  # a container writes into it as another user
        port, mode = self._port(name), config.mode.value
        place.properties.write_text(worker_properties(self.names, self.bootstrap, port, config))
        worker = OurWorker(place, self.names, self.bootstrap, port, config) if ours else self._starter(place)
        started = WorkerStart(place, worker, ours)
        self.harness.emit(
            MemberStarted(
                member=name, protocol=mode, client=OURS if ours else CLIENT, release="" if ours else self.version,
                rebalance_timeout_ms=config.rebalance_timeout_ms, session_timeout_ms=config.session_timeout_ms,
            )
        )  # fmt: skip
        self.harness.emit(
            WorkerConfigured(
                member=name, mode=mode, url=f"{self.rest(name).url}/", exactly_once=config.exactly_once,
                store=place.store,
                scheduled_rebalance_max_delay_ms=config.scheduled_rebalance_max_delay_ms,
            )
        )  # fmt: skip
        self._all.append(started)
        self._current[name] = started
        started.worker.start()

    def _await_answer(self, name: str) -> None:
        started = self._of(name)

        def probe() -> bool | NotYet:
            require_no_crash([started])
            return True if self.rest(name).answers() else NotYet()

        await_until(
            probe, timeout_s=START_TIMEOUT_S, pause_s=CHECK_S, otherwise=f"worker {name} does not answer",
            hint=f"see {started.place.log}",
        )  # fmt: skip

    def stop(self, name: str) -> None:
        """Stop a worker in good order: it leaves the group."""
        started = self._of(name)
        started.worker.stop()
        self._end(name, MemberLeft(member=name))

    def kill(self, name: str) -> None:
        """End a worker at once."""
        self._of(name).worker.kill()
        self._end(name, MemberCrashed(member=name))

    def _end(self, name: str, event: Event) -> None:
        self._current.pop(name).ended = True
        self.harness.emit(event)

    def pause(self, name: str) -> None:
        """Stop a worker where it stands, as a long garbage collection does."""
        self._of(name).worker.pause()
        self._of(name).paused = True
        self.harness.emit(MemberPaused(member=name))

    def resume(self, name: str) -> None:
        """Let a paused worker run on."""
        self.harness.emit(MemberResumed(member=name))
        self._of(name).paused = False
        self._of(name).worker.resume()

    def _of(self, name: str) -> WorkerStart:
        started = self._current.get(name)
        if started is None:
            raise RebalanceCheckError(f"no worker {name!r} runs: start it first")
        return started

    def _port(self, name: str) -> int:
        """The port of a worker, the same after a restart, as an operator would have it."""
        if name not in self._ports:
            (self._ports[name],) = free_ports(1)
        return self._ports[name]

    # ---------------------------------------------------------------------------------------- looking

    @property
    def workers(self) -> list[str]:
        """The workers that have started and not ended."""
        return list(self._current)

    def rest(self, name: str = "") -> ConnectRest:
        """The REST interface of a worker, by default of one that runs.

        Raises:
            RebalanceCheckError: none runs.
        """
        awake = [worker for worker, started in self._current.items() if not started.paused]
        if not name and not awake:
            raise RebalanceCheckError("no worker of the cluster runs: start one first")
        return ConnectRest(f"http://127.0.0.1:{self._port(name or awake[0])}")

    def worker_of(self, url: str) -> str:
        """The worker that advertises ``url``.

        Raises:
            RebalanceCheckError: none does.
        """
        for name in self._current:
            if self.rest(name).url == url.rstrip("/"):
                return name
        raise RebalanceCheckError(f"no worker that runs has the address {url!r}: it ended, or never was one")

    def leader(self) -> str:
        """The worker that leads, by the last assignment that a worker logged.

        Raises:
            RebalanceCheckError: no worker that runs has an assignment.
        """
        for started in self._current.values():
            received = self._last_received(started)
            if received is not None and not started.paused:
                return self.worker_of(received.leader_url)
        raise RebalanceCheckError("no worker that runs has received an assignment: wait until the group is stable")

    def _last_received(self, started: WorkerStart) -> ConnectAssignmentReceived | None:
        """The last assignment that a worker logged, if any."""
        logged = started.events(self.names.group, self._wall_to_monotonic_ns)
        return next((event for _, event in reversed(logged) if isinstance(event, ConnectAssignmentReceived)), None)

    def _await_further_rounds(self) -> None:
        """Wait for the rounds that workers ask for from which work was revoked; one that asks for none is judged."""

        def probe() -> bool | NotYet:
            last = [self._last_received(started) for started in self._current.values() if not started.paused]
            return NotYet() if any(received is not None and received.revoked for received in last) else True

        with suppress(RebalanceCheckError):
            await_until(probe, timeout_s=ROUND_S, pause_s=CHECK_S, otherwise="no further round came")

    def _await_statuses(self) -> None:
        """Wait until the status topic has the state of all work, for a second; one that never says so is judged."""
        addresses = {name: urlsplit(self.rest(name).url).netloc for name in self._current}
        with suppress(RebalanceCheckError):
            self.await_that(
                lambda found: all(
                    self.topics.says_what_runs(item, addresses[name]) for item, who in found.items() for name in who
                ),
                "no status says so", timeout_s=STATUS_S, quiet_s=1.0,
            )  # fmt: skip

    def require_no_crash(self) -> None:
        """See `AwaitedCluster`."""
        require_no_crash(self._current.values())

    def journals(self) -> dict[str, Path]:
        """The journals of the workers that have started and not ended."""
        return {name: started.place.journal for name, started in self._current.items()}

    def note_snapshot(self, name: str, target: str) -> None:
        """Note the view of the worker's config store, as its REST interface shows it: connectors, and tasks to run.

        ``target`` is the target state of all connectors, which REST does not show. The worker has read all that the
        topic holds: nothing was written for a while.
        """
        self.harness.emit(seen_by_rest(self.rest(name), name, self.topics.config_end(), target))

    # ---------------------------------------------------------------------------------------- the history

    def end(self, *, pending: tuple[str, ...] = ()) -> list[Event]:
        """Stop every worker in good order, and return one history of the run.

        ``pending`` are the conditions that the run waited for in vain.

        Raises:
            RebalanceCheckError: a topic could not be read, or a journal is damaged.
        """
        self.controls.clear()
        if not pending:
            self._await_further_rounds()
            self._await_statuses()
            self.harness.emit(RunSettled())
        for name in [name for name, started in self._current.items() if started.paused]:
            self.resume(name)
        with ThreadPoolExecutor(max(len(self._current), 1)) as pool:
            list(pool.map(lambda started: started.worker.stop(), self._current.values()))
        for name in list(self._current):
            self._end(name, MemberLeft(member=name))
        self.topics.close()
        self.harness.emit(RunEnded(pending=pending))
        return self._history()

    def abandon(self) -> list[Event]:
        """Kill every worker, and return the history until one crashed; the end of the run is missing."""
        crashed = [name for name, started in self._current.items() if started.worker.death() is not None]
        for started in self._current.values():
            started.worker.kill()
        self.topics.close()
        return with_crashes(self._history(), crashed, HARNESS)

    def _history(self) -> list[Event]:
        own = [*self._events, *self.topics.events]
        return merged(own, self._all, self.names.group, self.topics.statuses, self._wall_to_monotonic_ns)
