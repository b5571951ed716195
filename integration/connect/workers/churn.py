"""Connect workers, Java's and ours, under churn that a seed draws: kills, stops, pauses, and changes of connectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Final

from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.brokers.open import BrokerSpec
from rebalance_check.integration.connect.workers.awaiting import items_of
from rebalance_check.integration.connect.workers.cluster import ConnectCluster
from rebalance_check.integration.connect.workers.crashes import WorkerCrashedError
from rebalance_check.integration.connect.workers.open import open_connect
from rebalance_check.integration.connect.workers.scenarios import SCENARIOS, Scenario, source
from rebalance_check.integration.connect.workers.settings import ConnectConfig
from rebalance_check.integration.connect.workers.what_ran import what_ran
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.history import write_history

CONNECTORS: Final = ("a", "b", "c")
MOST_TASKS: Final = 4
MOST_WORKERS: Final = 8
LONGER_THAN_A_SESSION_S: Final = 8.0
CHURN: Final = "churn"


class WorkerKind(StrEnum):
    """The implementation of a worker: Kafka's, or that of this package."""

    JAVA = "java"
    OURS = "ours"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectRun:
    """One run: ``members`` workers of these kinds in turn, for ``steps`` steps of churn; or a named scenario.

    Raises:
        RebalanceCheckError: a number, or the name of the scenario, does not serve.
    """

    workers: tuple[WorkerKind, ...] = (WorkerKind.JAVA,)
    mode: ConnectMode = ConnectMode.SESSIONED
    members: int = 3
    steps: int = 12
    scenario: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.members <= MOST_WORKERS:
            raise RebalanceCheckError(f"members is {self.members}: choose a number from 1 to {MOST_WORKERS}")
        if not self.workers:
            raise RebalanceCheckError(f"no kind of worker is named: choose from {', '.join(WorkerKind)}")
        if self.steps < 0:
            raise RebalanceCheckError(f"steps is {self.steps}: choose a number from 0 on")
        if self.scenario and self.scenario not in BY_NAME:
            raise RebalanceCheckError(f"{self.scenario!r} is no scenario: choose from {', '.join(BY_NAME)}")

    @property
    def name(self) -> str:
        """The beginning of the names of a run's files."""
        return f"connect-{self.scenario or self.mode}"

    def kind(self, number: int) -> WorkerKind:
        """The implementation of the worker with this number."""
        return self.workers[number % len(self.workers)]


BY_NAME: Final = {scenario.name: scenario for scenario in SCENARIOS}


def run_connect(broker: Broker, spec: str, seed: int, run: ConnectRun, folder: Path) -> Iterator[Event]:
    """The history of a run on ``broker``, which was opened as ``spec``; ``folder`` keeps the workers' files.

    Of a scenario that provokes a defect it has running work and workers' views alone; the whole history is a file in
    ``folder``. Unmet conditions of the run are pending at its end. Where a worker crashes, its `WorkerCrashedError`
    comes behind the last event.

    Raises:
        RebalanceCheckError: the broker is no Kafka, or the cluster cannot be set up.
    """
    if spec == BrokerSpec.EMBEDDED:
        raise RebalanceCheckError(
            "Connect workers need a real Kafka, and the broker is embedded: choose local, testcontainers or HOST:PORT"
        )
    scenario = BY_NAME.get(run.scenario) or Scenario(churn(seed, run), ConnectConfig(mode=run.mode))
    with open_connect(broker, spec, scenario.config, folder=folder, config_topic=scenario.config_topic) as cluster:
        history, crash = acted(cluster, scenario.act)
    write_history(folder / "whole.jsonl", history)
    return _until_crash(what_ran(history) if scenario.defect else history, crash)


def acted(
    cluster: ConnectCluster, act: Callable[[ConnectCluster], None]
) -> tuple[list[Event], WorkerCrashedError | None]:
    """The history of a cluster to which ``act`` happens, and the crash of a worker at which it breaks off."""
    pending: tuple[str, ...] = ()
    try:
        act(cluster)
    except RebalanceCheckError as error:
        pending = (str(error),)
    try:
        cluster.require_no_crash()  # the run waited in vain for a crashed worker
    except WorkerCrashedError as crash:
        return cluster.abandon(), crash
    return cluster.end(pending=pending), None


def _until_crash(history: Iterable[Event], crash: WorkerCrashedError | None) -> Iterator[Event]:
    yield from history
    if crash is not None:
        raise crash


def churn(seed: int, run: ConnectRun) -> Callable[[ConnectCluster], None]:
    """The faults and changes of a cluster in a run with this seed."""

    def act(cluster: ConnectCluster) -> None:
        churning = _Churn(cluster, run, Random(seed))
        churning.begin()
        for _ in range(run.steps):
            churning.step()
        churning.heal()

    return act


@dataclass(slots=True)
class _Churn:
    cluster: ConnectCluster
    run: ConnectRun
    random: Random
    tasks: dict[str, int] = field(default_factory=dict)
    halted: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """All workers, and a connector."""
        for number in range(self.run.members):
            self._start(number)
        self._put(CONNECTORS[0])
        self._await()

    def step(self) -> None:
        """One disturbance, then a pause.

        Raises:
            WorkerCrashedError: a worker has ended by itself.
        """
        self.cluster.require_no_crash()
        steps = (self._kill, self._stop, self._pause, self._restart, self._configure, self._configure, self._delete,
                 self._halt)  # fmt: skip
        self.random.choice(steps)()
        time.sleep(self.random.uniform(0.1, 1.5))

    def heal(self) -> None:
        """Every worker runs, every connector is to run, and each does, once."""
        for number in self._down():
            self._start(number)
        for connector in sorted(self.halted):
            self.cluster.rest().target(connector, "resume")
        self.halted.clear()
        self._await()

    def _await(self) -> None:
        self.cluster.await_running(set().union(*(items_of(name, tasks) for name, tasks in self.tasks.items())))

    # ---------------------------------------------------------------------------------------- workers

    def _start(self, number: int) -> None:
        self.cluster.start(f"w{number}", ours=self.run.kind(number) is WorkerKind.OURS)

    def _down(self) -> list[int]:
        return [number for number in range(self.run.members) if f"w{number}" not in self.cluster.workers]

    def _one(self) -> str | None:
        """A worker that may go: another one stays."""
        return self.random.choice(self.cluster.workers) if len(self.cluster.workers) > 1 else None

    def _kill(self) -> None:
        if (worker := self._one()) is not None:
            self.cluster.kill(worker)

    def _stop(self) -> None:
        if (worker := self._one()) is not None:
            self.cluster.stop(worker)

    def _pause(self) -> None:
        if (worker := self._one()) is not None:
            self.cluster.pause(worker)
            time.sleep(self.random.choice((1.0, LONGER_THAN_A_SESSION_S)))
            self.cluster.resume(worker)

    def _restart(self) -> None:
        if down := self._down():
            self._start(self.random.choice(down))

    # ---------------------------------------------------------------------------------------- connectors

    def _put(self, connector: str) -> None:
        self.tasks[connector] = self.random.randint(1, MOST_TASKS)
        changed = str(self.random.random())
        self.cluster.rest().put_config(connector, source(self.tasks[connector], changed=changed))

    def _configure(self) -> None:
        self._put(self.random.choice([name for name in CONNECTORS if name not in self.halted] or [CONNECTORS[0]]))

    def _delete(self) -> None:
        if len(self.tasks) > 1:
            connector = self.random.choice(sorted(self.tasks))
            del self.tasks[connector]
            self.halted.discard(connector)
            self.cluster.rest().delete(connector)

    def _halt(self) -> None:
        running = sorted(self.tasks.keys() - self.halted)
        if running:
            connector = self.random.choice(running)
            self.halted.add(connector)
            self.cluster.rest().target(connector, self.random.choice(("pause", "stop")))
