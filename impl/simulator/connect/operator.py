"""The operator of a simulated Connect cluster: its requests to the workers, and its changes of the topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from rebalance_check.impl.connect.config.arguments import Given, of_connector, of_restart
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot
from rebalance_check.impl.connect.config.values import RestartRequest
from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.peers import Answer, OnAnswer
from rebalance_check.impl.connect.herder.reconfiguring import TASKS_MAX, VERSION
from rebalance_check.impl.connect.herder.work_events import WorkKey, work_name
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey
from rebalance_check.impl.protocol.connect_protocol import ConnectorTask
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.connect.process import ConnectProcess
from rebalance_check.impl.simulator.connect.shared import SharedCluster
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.events import HerderAnswered, HerderAsked, PluginFailed

RETRY_MS: Final = 1_000
"""How long the operator waits before it asks again, once the run is healed."""

CONVERTER: Final = "value.converter"
"""A setting that the worker applies, and that simulated connectors do not pass on to their tasks."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to one worker: the action, the connector or task, and the call that asks for it.

    ``given`` has the other contents of the request, as `HerderAsked` names them.
    """

    operation: str
    work: str
    of: Callable[[Herder, OnAnswer], None]
    given: Given = ()


class Operator:
    """Asks any worker that listens; a worker that does not lead refuses requests that only the leader serves.

    While a run is disturbed nothing is asked twice. Once it is healed the operator asks until each of its last requests
    was accepted.
    """

    def __init__(
        self, clock: VirtualClock, processes: Sequence[ConnectProcess], shared: SharedCluster, recorder: Recorder
    ) -> None:
        self._clock = clock
        self._processes = processes
        self._shared = shared
        self._recorder = recorder
        self._versions = 0
        self._asked = 0
        self._open: dict[str, Callable[[], Ask]] = {}

    # -------------------------------------------------------------------------------------------- churn

    def perform(self, action: Action) -> None:
        """One thing that the operator does; nothing where no worker listens."""
        connector = f"c{action.choice % 3}"
        match action.kind:
            case ActionKind.CHANGE_CONFIG:
                self._ask_leader(self._put("c0", action.choice))
            case ActionKind.CREATE_CONNECTOR:
                self._ask_leader(self._put(connector, action.choice // 3))
            case ActionKind.DELETE_CONNECTOR:
                self._ask_leader(Ask("delete", connector, lambda herder, on: herder.delete_connector(connector, on)))
            case ActionKind.PAUSE_CONNECTOR:
                pause = Ask("pause", connector, lambda herder, on: herder.pause_connector(connector, on))
                self._ask(action.member, pause)
            case ActionKind.RESUME_CONNECTOR:
                self._ask(action.member, _resumption(connector))
            case ActionKind.STOP_CONNECTOR:
                self._ask_leader(Ask("stop", connector, lambda herder, on: herder.stop_connector(connector, on)))
            case ActionKind.RESTART_CONNECTOR:
                request = RestartRequest(connector, only_failed=action.choice % 2 == 0, include_tasks=action.choice > 2)
                self._ask_leader(_restart(request))
                if action.choice % 2:  # a second request, for less or for more, before any worker has read the first
                    self._ask_leader(_restart(replace(request, only_failed=action.choice > 4, include_tasks=True)))
            case ActionKind.RESTART_TASK:
                key = ConnectorKey(connector) if action.choice > 8 else TaskKey(connector, action.choice // 3)
                self._ask_owner(action.member, key)
            case ActionKind.DELETE_TOPIC_STATUS:
                reset = Ask("reset topics", connector, lambda herder, on: herder.reset_topics(connector, on))
                self._ask(action.member, reset)
            case ActionKind.FAIL_TASK:
                self._fail(action)
            case ActionKind.COMPACT_TOPIC:
                self._shared.compact_statuses()
            case ActionKind.COMPACT_CONFIGS:
                self._shared.compact_configs()
            case _:
                return

    def _put(self, connector: str, tasks: int) -> Ask:
        """The next configuration, to be asked for at once: it counts when a worker hears of it.

        Every second one differs from the one before in a setting that no task config shows.
        """
        version = self._versions + 1
        config: dict[str, str | None] = {
            TASKS_MAX: str(tasks), VERSION: str(version // 2), CONVERTER: f"converter-{version}"
        }  # fmt: skip

        def put(herder: Herder, answer: OnAnswer) -> None:
            self._versions = version
            herder.put_connector(connector, config, answer)

        return Ask("configure", connector, put, of_connector(connector, config, None).given)

    def _ask(self, member: int, ask: Ask, answer: OnAnswer = lambda _: None) -> None:
        """Ask one worker, if it listens."""
        process, worker = self._processes[member], self._processes[member].worker
        if worker is None or not process.listens:
            return
        number, self._asked = self._asked, self._asked + 1

        def answered(said: Answer) -> None:
            self._recorder.emit(HerderAnswered(member=process.name, request=number, answer=said.value))
            answer(said)

        self._recorder.emit(
            HerderAsked(member=process.name, request=number, operation=ask.operation, work=ask.work, given=ask.given)
        )
        ask.of(worker.herder, answered)

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
        restart = Ask("restart work", work_name(key), lambda herder, on: herder.restart_work(key, on))
        self._ask(next(owners, member), restart)

    def _fail(self, action: Action) -> None:
        """A connector or task of the worker fails while it runs."""
        process = self._processes[action.member]
        if process.worker is not None and process.listens:
            instances = [
                instance for _, instance in sorted(process.worker.herder.worker.instances.items(), key=_by_name)
            ]
            if instances:
                instance = instances[action.choice % len(instances)]
                self._recorder.emit(PluginFailed(member=process.name, work=work_name(instance.key)))
                instance.fail()

    # -------------------------------------------------------------------------------------------- healing

    def heal(self, snapshot: ConfigSnapshot) -> None:
        """Give every connector a new configuration and let it run: failed work starts anew."""
        for connector in snapshot.connectors():
            self._configure(snapshot, connector)
            self.resume(connector)

    def resume(self, connector: str) -> None:
        """Let a connector run."""
        self._insist(f"the resumption of {connector}", partial(_resumption, connector))

    def reconfigure(self, snapshot: ConfigSnapshot, connector: str) -> None:
        """Give a connector a configuration that its task configurations show, with as many tasks as before."""
        self._versions += 1
        self._configure(snapshot, connector)

    def _configure(self, snapshot: ConfigSnapshot, connector: str) -> None:
        tasks = int(str((snapshot.config(connector) or {}).get(TASKS_MAX)))
        self._insist(f"the configuration of {connector}", partial(self._put, connector, tasks))

    def _insist(self, what: str, next_ask: Callable[[], Ask]) -> None:
        """Ask until the leader accepts, each time for the next request then."""
        self._open[what] = next_ask

        def answered(answer: Answer) -> None:
            if answer is Answer.OK:
                self._open.pop(what, None)
            else:
                self._clock.after(RETRY_MS, partial(self._insist, what, next_ask))

        if not self._ask_leader(next_ask(), answered):
            self._clock.after(RETRY_MS, partial(self._insist, what, next_ask))

    def pending(self) -> Iterator[str]:
        """The requests of the operator that no leader has accepted."""
        yield from (f"{what} was not accepted" for what in self._open)


def _resumption(connector: str) -> Ask:
    return Ask("resume", connector, lambda herder, on: herder.resume_connector(connector, on))


def _restart(request: RestartRequest) -> Ask:
    def restart(herder: Herder, answer: OnAnswer) -> None:
        herder.restart_connector_and_tasks(request, answer)

    return Ask("restart", request.connector, restart, of_restart(request).given)


def _by_name(entry: tuple[ConnectorKey | TaskKey, object]) -> tuple[str, ...]:
    return tuple(map(str, entry[0]))
