"""Our herder with its coordinator, driven by the same steps as Kafka's DistributedHerder: see `SteppedHerder.java`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from rebalance_check.impl.client.generation import Generation
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.config.writing import ConfigCall, Plan
from rebalance_check.impl.connect.herder.behaviour import WELL_BEHAVED
from rebalance_check.impl.connect.herder.config import HerderConfig
from rebalance_check.impl.connect.herder.core import HerderParts
from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.instance import Surroundings
from rebalance_check.impl.connect.herder.peers import Peers
from rebalance_check.impl.connect.herder.producers import SharedProducers
from rebalance_check.impl.connect.herder.statuses import StatusWriter
from rebalance_check.impl.connect.herder.work_events import WorkEvents, work_name
from rebalance_check.impl.connect.herder.worker import Worker
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.impl.connect.workers.coordinator import WorkerCoordinator
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode, ConnectorTask
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.comparison.workers.our_worker import OurWorker
from rebalance_check.integration.comparison.workers.steps import GROUP, Step
from rebalance_check.model.vocabulary.events import (
    ConnectorStarted,
    ConnectorStopped,
    Event,
    TaskStarted,
    TaskStopped,
)

_AT_ONCE: Final = Plan("", ())


class _ReadConfigs:
    """A config store that has read all that the driver gave it, and whose calls are over at once."""

    def __init__(self, snapshot: Callable[[], ConfigSnapshot]) -> None:
        self.snapshot = snapshot
        self.listener: object = None

    def __getattr__(self, name: str) -> Any:
        if name in {"expire", "deadline_of", "stop"}:
            return lambda *_args: None
        return lambda *_args: ConfigCall(_AT_ONCE, None)


class _NotedStatuses:
    """A status store that notes each write, and holds nothing."""

    in_flight = ()
    flushing = False

    def __init__(self, calls: Callable[[], list[dict[str, Any]]]) -> None:
        self._calls = calls

    def put(self, key: Any, value: Any, call: str = "status") -> None:
        """Note the call."""
        self._calls().append(
            {"call": call, "work": work_name(key), "state": value.status.value, "generation": value.generation}
        )

    def put_safe(self, key: Any, value: Any) -> None:
        """Note the call."""
        self.put(key, value, "status, safely")

    def __getattr__(self, name: str) -> Any:
        return lambda *_args: ()


class _SteppedHerder(Herder):
    def request_reconfiguration(self, connector: str, attempt: int = 0) -> None:
        """Task configurations are the driver's."""


class OurHerder(OurWorker):
    """One worker after the other, each with a herder of ours; a step ``reset`` begins the first."""

    _herder: Herder

    def _begin(self, step: Step) -> None:
        super()._begin(step)
        self._is_revoking = False
        self._due: list[tuple[int, Callable[[], None]]] = []
        name = step.get("worker", "w")
        config = WorkerConfig(
            group_id=GROUP,
            connect_protocol=ConnectMode.parse(step["mode"]),
            scheduled_rebalance_max_delay_ms=step["maxDelay"],
            client_id=name,
        )
        recorder = Recorder(GROUP, name, lambda: self._now_ms, self._note_work)
        url = f"http://{name}:8083/"
        statuses = StatusWriter(
            cast("StatusStore", _NotedStatuses(lambda: self._calls)), f"{name}:8083", lambda: self._herder.generation
        )
        events = WorkEvents(name, recorder, self._member_generation)
        parts = HerderParts(
            member=name, url=url, config=config, settings=HerderConfig(), recorder=recorder,
            configs=cast("ConfigStore", _ReadConfigs(self._config_snapshot)), statuses=statuses, threads=self,
            peers=cast("Peers", None), producers=SharedProducers(recorder),
            worker=Worker(Surroundings(self, statuses, events), lambda _key: WELL_BEHAVED),
        )  # fmt: skip

        def coordinator(_herder: Herder) -> WorkerCoordinator:
            self._worker = WorkerCoordinator(config, recorder, member=name, url=url, configs=self, listener=self)
            return self._worker

        self._herder = _SteppedHerder(parts, coordinator)

    def _member_generation(self) -> Generation:
        return self._worker.generation()

    def _config_snapshot(self) -> ConfigSnapshot:
        snapshot = ConfigSnapshot.of(self._configs.task_counts, self._configs.offset)
        plain = {
            name: replace(state, task_configs={task: {} for task in state.task_configs})
            for name, state in snapshot.known.items()
        }
        return replace(snapshot, known=plain)

    # ------------------------------------------------------------------------------------------- its threads

    @property
    def now_ms(self) -> int:
        """The present time in ms."""
        return self._now_ms

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Let an action happen on a thread of its own."""
        self._due.append((self._now_ms + delay_ms, action))

    def wake_herder(self) -> None:
        """The driver polls anyway."""

    def _run_due(self) -> bool:
        due = [action for at_ms, action in self._due if at_ms <= self._now_ms]
        self._due = [entry for entry in self._due if entry[0] > self._now_ms]
        for action in due:
            action()
        return bool(due)

    def _note_work(self, event: Event) -> None:
        match event:
            case ConnectorStarted(connector=work) | TaskStarted(task=work):
                self._calls.append({"call": "start", "work": work})
            case ConnectorStopped(connector=work) | TaskStopped(task=work):
                self._calls.append({"call": "stop", "work": work})
            case _:
                pass

    # ------------------------------------------------------------------------------------------- its herder

    def on_assigned(self, assignment: ConnectAssignment, generation: int) -> None:
        """Note the call, and hand it to the herder."""
        super().on_assigned(assignment, generation)
        self._herder.on_assigned(assignment, generation)

    def on_revoked(self, leader: str, connectors: Sequence[str], tasks: Sequence[ConnectorTask]) -> bool:
        """Note the first call of each revocation, and hand all to the herder."""
        if not self._is_revoking:
            super().on_revoked(leader, connectors, tasks)
        self._is_revoking = not self._herder.on_revoked(leader, connectors, tasks)
        return not self._is_revoking

    def _poll(self) -> None:
        self._inside = True
        while True:
            self._herder.poll()
            ran = self._run_due()
            if not (self._collect() or ran):
                return
