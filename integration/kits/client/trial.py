"""The subject of a scenario: the processes of one group, each behind its own front, and the wire between them."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.exchange.faults import FaultPlan
from rebalance_check.integration.exchange.nodes import nodes_of
from rebalance_check.integration.exchange.proxy import RecordingProxy
from rebalance_check.integration.kits.client import operator
from rebalance_check.integration.kits.client.feeding import Feeder
from rebalance_check.integration.kits.client.placeholders import ClientCommand
from rebalance_check.integration.kits.client.process import ClientProcess
from rebalance_check.integration.kits.client.recording import Recording
from rebalance_check.integration.kits.client.stepping import Steps, Until
from rebalance_check.integration.kits.client.view import GroupView
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import RunEnded, RunStarted

VIRTUAL_NODES: Final = 2
"""So many nodes clients see of a broker that has one."""


class CutError(RebalanceCheckError):
    """A scenario cannot go on: the client hangs, or has ended by itself. Its record until then is judged."""


class NeverConnectedError(RebalanceCheckError):
    """No process of the first scenario connected: the command starts no client, and there is nothing to judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The common part of all scenarios of a run.

    ``patience_s`` is how many seconds the kit waits for a client's step, besides the time that the protocol gives it.
    ``changed`` is notified at each event of any scenario.
    """

    broker: Broker
    command: ClientCommand
    members: int
    seed: int
    patience_s: float
    changed: threading.Condition
    feeder: Feeder

    @property
    def partitions(self) -> int:
        """How many partitions a topic has at first: two for each member and for one more process."""
        return 2 * (self.members + 1)


class Trial:
    """One group, its processes by name, its topic, the recording, and the view of the wire so far.

    ``random`` is the source of all choices of the scenario. Its waits are generators for `stepping.run_side_by_side`.
    """

    def __init__(
        self, ground: Ground, *, proxy: RecordingProxy, recording: Recording, random: Random, folder: Path, topic: str,
        is_static: bool,
    ) -> None:  # fmt: skip
        self.view = recording.view
        self.random = random
        self.names = tuple(f"p{index}" for index in range(ground.members))
        self.extra = f"p{ground.members}"
        self.group = recording.group
        self._proxy = proxy
        self._ground = ground
        self._topic = topic
        self._folder = folder
        self._is_static = is_static
        self._harness = recording.recorder("harness")
        self._processes: dict[str, ClientProcess] = {}
        self._may_end: set[str] = set()
        self._moves = 0

    @property
    def faults(self) -> FaultPlan:
        """The faults of the scenario."""
        return self._proxy.faults

    # ----------------------------------------------------------------------------------- processes

    @property
    def running(self) -> tuple[str, ...]:
        """The processes that run or are paused."""
        return tuple(name for name, process in self._processes.items() if process.runs)

    def start(self, name: str, *, like: str = "") -> None:
        """Start a process, or start it again; in a static scenario with the instance id of ``like``, or its own."""
        if name not in self._processes:
            line = self._ground.command.filled(
                bootstrap=self._proxy.bootstrap_for(name),
                group=self.group,
                topic=self._topic,
                instance=f"i-{like or name}" if self._is_static else "",
                member=name,
            )
            self._processes[name] = ClientProcess(name, line, self._folder / f"{name}.log", self._harness)
        self._processes[name].start()

    def terminate(self, name: str) -> None:
        """Ask a process to end."""
        self._processes[name].terminate()

    def kill(self, name: str) -> None:
        """Kill a process."""
        self._processes[name].kill()

    def pause(self, name: str) -> None:
        """Stop a process where it stands."""
        self._processes[name].pause()

    def resume(self, name: str) -> None:
        """Let a paused process run on."""
        self._processes[name].resume()

    def allow_to_end(self, *names: str) -> None:
        """From here on the processes may end by themselves: the reply that they may receive is fatal for them."""
        self._may_end.update(names)

    def kill_all(self) -> None:
        """Kill running processes."""
        for name in self.running:
            self.kill(name)

    # ----------------------------------------------------------------------------------- the broker

    def add_partitions(self) -> set[str]:
        """Double the partitions of the topic, and give the names of the new ones.

        Raises: RebalanceCheckError when the broker refuses.
        """
        before, after = self._ground.partitions, 2 * self._ground.partitions
        operator.add_partitions(self._ground.broker.bootstrap, self._topic, after)
        self._ground.feeder.feed(self._topic, after)
        return {f"{self._topic}-{index}" for index in range(before, after)}

    def move_coordinator(self) -> None:
        """Let another node coordinate the group.

        Raises: RebalanceCheckError where the broker has several nodes of its own.
        """
        self._moves += 1
        nodes = self._proxy.node_ids
        self._proxy.move_coordinator(self.group, nodes[self._moves % len(nodes)])

    def remove(self, member_id: str) -> None:
        """Remove a member from the group at the broker."""
        operator.remove_member(self._ground.broker.bootstrap, self.group, member_id)

    # ----------------------------------------------------------------------------------- waiting

    @property
    def patience_s(self) -> float:
        """How long the group may take to be whole again, by the session timeout that its members asked for."""
        return self.view.session_timeout_ms / 1000 + self._ground.patience_s

    def reach(self, is_so: Callable[[], bool], what: str, timeout_s: float = 0.0) -> Steps:
        """Wait until ``is_so``, for `patience_s` where no time is given; ``what`` says it in words.

        Raises: CutError when it does not come to pass, or a process ends by itself before.
        """
        timeout_s = timeout_s or self.patience_s
        if not (yield from self.hope(is_so, what, timeout_s)):
            raise CutError(f"{what}: not within {timeout_s:g} s; {self.view.described()}")

    def hope(self, is_so: Callable[[], bool], what: str, timeout_s: float) -> Generator[Until, bool, bool]:
        """Wait until ``is_so``, and say whether it came to pass in time.

        Raises: CutError when a process ends by itself before.
        """
        came_to_pass = yield Until(lambda: bool(self._dead()) or is_so(), timeout_s, what)
        for dead in self._dead():
            raise CutError(f"{dead}; it was not asked to end")
        return came_to_pass

    def is_settled(self, since: int = -1) -> bool:
        """Whether all that run are members of one generation, each with a Heartbeat in it after event ``since``."""
        return self.view.is_settled(self.running, since)

    def await_end(self, name: str) -> Steps:
        """Wait until a process that was asked to end has done so.

        Raises: CutError when it does not end in time; it is killed then.
        """
        timeout_s = self._ground.patience_s
        if not (yield from self.hope(lambda: self.view.of(name).ended, f"{name} ends", timeout_s)):
            self.kill(name)
            raise CutError(f"{name} did not end within {timeout_s:g} s of SIGTERM, and was killed")

    def _dead(self) -> list[str]:
        return [
            str(process.death())
            for name, process in self._processes.items()
            if process.has_ended_unasked and name not in self._may_end
        ]


@contextmanager
def open_trial(
    ground: Ground, scenario: str, view: GroupView, history: Path, folder: Path, *, is_static: bool, faults: FaultPlan
) -> Iterator[Trial]:
    """A trial for ``scenario``, with a new group and a new topic; all is gone afterwards.

    The events go to the file ``history`` and then to ``view``; a RunEnded is the last of them unless the broker failed
    or an interruption ended the scenario. The output of the processes goes to ``folder``.
    """
    identity = uuid.uuid4().hex[:8]
    topic = f"t{identity}"
    recording = Recording(history, f"conform-{scenario}-{identity}", view, ground.changed)
    with ExitStack() as stack:
        stack.callback(recording.close)
        run = recording.recorder("run")
        bounds = f"{scenario}, {ground.members} members, {ground.partitions} partitions, {ground.broker.name}"
        run.emit(RunStarted(subject=str(ground.command), seed=ground.seed, bounds=bounds))
        create_topic(ground.broker.bootstrap, topic, ground.partitions)
        ground.feeder.feed(topic, ground.partitions)
        stack.callback(ground.feeder.stop_feeding, topic)
        random = stream(ground.seed, f"client kit {scenario}")
        try:
            with _proxy(ground.broker, recording, faults) as proxy:
                trial = Trial(
                    ground, proxy=proxy, recording=recording, random=random, folder=folder, topic=topic,
                    is_static=is_static,
                )  # fmt: skip
                try:
                    yield trial
                finally:
                    trial.kill_all()
        except CutError:
            run.emit(_end_of(recording))
            raise
        run.emit(_end_of(recording))


def _end_of(recording: Recording) -> RunEnded:
    """The end of a scenario, its proxy closed and its processes dead; the kit did not look whether all was at rest."""
    return RunEnded(pending=None, last=recording.attested)


def _proxy(broker: Broker, recording: Recording, faults: FaultPlan) -> RecordingProxy:
    """The proxy before the broker; a broker of one node gets a second one, so that coordinators can move."""
    first = operator.first_of(broker.bootstrap)
    virtual_nodes = VIRTUAL_NODES if len(nodes_of(first)) == 1 else 0
    return RecordingProxy(first, listener=recording, faults=faults, control=broker.control, virtual_nodes=virtual_nodes)
