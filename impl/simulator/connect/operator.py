"""The operator of a simulated Connect cluster: what it asks the workers for, and what it does to the topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.impl.connect.config.values import RestartRequest
from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.peers import Answer, OnAnswer
from rebalance_check.impl.connect.herder.reconfiguring import TASKS_MAX, VERSION
from rebalance_check.impl.connect.herder.work_events import WorkKey
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey
from rebalance_check.impl.protocol.connect_protocol import ConnectorTask
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.simulator.connect.process import ConnectProcess
from rebalance_check.impl.simulator.connect.shared import SharedCluster
from rebalance_check.model.vocabulary.actions import Action, ActionKind

RETRY_MS: Final = 1_000
"""How long the operator waits before it asks again, once the run is healed."""

CONVERTER: Final = "value.converter"
"""A setting that the worker applies, and that simulated connectors do not pass on to their tasks."""

Ask = Callable[[Herder, OnAnswer], None]
"""A request to one worker."""


class Operator:
    """Asks any worker that listens; a worker that does not lead refuses what only the leader does.

    While a run is disturbed nothing is asked twice. Once it is healed the operator asks until each of its last requests
    was accepted.
    """

    def __init__(self, clock: VirtualClock, processes: Sequence[ConnectProcess], shared: SharedCluster) -> None:
        self._clock = clock
        self._processes = processes
        self._shared = shared
        self._versions = 0
        self._open: dict[str, Ask] = {}

    # -------------------------------------------------------------------------------------------- churn

    def perform(self, action: Action) -> None:
        """One thing that the operator does; nothing where no worker listens."""
        connector = f"c{action.choice % 3}"
        match action.kind:
            case ActionKind.CHANGE_CONFIG:
                self._ask_leader(partial(self._put, "c0", action.choice))
            case ActionKind.CREATE_CONNECTOR:
                self._ask_leader(partial(self._put, connector, action.choice // 3))
            case ActionKind.DELETE_CONNECTOR:
                self._ask_leader(lambda herder, answer: herder.delete_connector(connector, answer))
            case ActionKind.PAUSE_CONNECTOR:
                self._ask(action.member, lambda herder, answer: herder.pause_connector(connector, answer))
            case ActionKind.RESUME_CONNECTOR:
                self._ask(action.member, lambda herder, answer: herder.resume_connector(connector, answer))
            case ActionKind.STOP_CONNECTOR:
                self._ask_leader(lambda herder, answer: herder.stop_connector(connector, answer))
            case ActionKind.RESTART_CONNECTOR:
                request = RestartRequest(connector, only_failed=action.choice % 2 == 0, include_tasks=action.choice > 2)
                self._ask_leader(lambda herder, answer: herder.restart_connector_and_tasks(request, answer))
            case ActionKind.RESTART_TASK:
                key = ConnectorKey(connector) if action.choice > 8 else TaskKey(connector, action.choice // 3)
                self._ask_owner(action.member, key)
            case ActionKind.DELETE_TOPIC_STATUS:
                self._ask(action.member, lambda herder, answer: herder.reset_topics(connector, answer))
            case ActionKind.FAIL_TASK:
                self._fail(action)
            case ActionKind.COMPACT_TOPIC:
                self._shared.status_log.compact()
            case ActionKind.COMPACT_CONFIGS:
                self._shared.config_log.compact()
            case _:
                return

    def _put(self, connector: str, tasks: int, herder: Herder, answer: OnAnswer) -> None:
        """Every second configuration differs from the one before in a setting that no task config shows."""
        self._versions += 1
        version, converter = str(self._versions // 2), f"converter-{self._versions}"
        config = {TASKS_MAX: str(tasks), VERSION: version, CONVERTER: converter}
        herder.put_connector(connector, config, answer)

    def _ask(self, member: int, ask: Ask, answer: OnAnswer = lambda _: None) -> None:
        """Ask one worker, if it listens."""
        worker = self._processes[member].worker
        if worker is not None and self._processes[member].listens:
            ask(worker.herder, answer)

    def _ask_leader(self, ask: Ask, answer: OnAnswer = lambda _: None) -> bool:
        """Ask the worker that takes itself for the leader; False where none does."""
        for number, process in enumerate(self._processes):
            if process.listens and process.worker is not None and process.worker.herder.is_leader:
                self._ask(number, ask, answer)
                return True
        return False

    def _ask_owner(self, member: int, key: WorkKey) -> None:
        """Have a connector or task restarted; a worker that leads passes the request on to its owner."""
        worker = self._processes[member].worker
        if worker is None or not self._processes[member].listens:
            return
        coordinator = worker.herder.coordinator
        url = coordinator.owner_url(key.connector if isinstance(key, ConnectorKey) else ConnectorTask(*key))
        workers = ((number, process.worker) for number, process in enumerate(self._processes))
        owners = (number for number, each in workers if each is not None and each.herder.url == url)
        self._ask(next(owners, member), lambda herder, answer: herder.restart_work(key, answer))

    def _fail(self, action: Action) -> None:
        """A connector or task of the worker fails while it runs."""
        worker = self._processes[action.member].worker
        if worker is not None and self._processes[action.member].listens:
            instances = [instance for _, instance in sorted(worker.herder.worker.instances.items(), key=_by_name)]
            if instances:
                instances[action.choice % len(instances)].fail()

    # -------------------------------------------------------------------------------------------- healing

    def heal(self, snapshot: ConfigSnapshot) -> None:
        """Give every connector a new configuration and let it run: what failed starts anew."""
        for connector in snapshot.connectors():
            self._configure(snapshot, connector)
            self.resume(connector)

    def resume(self, connector: str) -> None:
        """Let a connector run."""
        self._insist(f"the resumption of {connector}", partial(_resume, connector))

    def reconfigure(self, snapshot: ConfigSnapshot, connector: str) -> None:
        """Give a connector a configuration that its task configurations show, with as many tasks as before."""
        self._versions += 1
        self._configure(snapshot, connector)

    def _configure(self, snapshot: ConfigSnapshot, connector: str) -> None:
        tasks = int(str((snapshot.config(connector) or {}).get(TASKS_MAX)))
        self._insist(f"the configuration of {connector}", partial(self._put, connector, tasks))

    def _insist(self, what: str, ask: Ask) -> None:
        """Ask until the leader accepts."""
        self._open[what] = ask

        def answered(answer: Answer) -> None:
            if answer is Answer.OK:
                self._open.pop(what, None)
            else:
                self._clock.after(RETRY_MS, partial(self._insist, what, ask))

        if not self._ask_leader(ask, answered):
            self._clock.after(RETRY_MS, partial(self._insist, what, ask))

    def pending(self) -> Iterator[str]:
        """What the operator asked for that no leader has accepted."""
        yield from (f"{what} was not accepted" for what in self._open)


def _resume(connector: str, herder: Herder, answer: OnAnswer) -> None:
    herder.resume_connector(connector, answer)


def _by_name(entry: tuple[ConnectorKey | TaskKey, object]) -> tuple[str, ...]:
    return tuple(map(str, entry[0]))
