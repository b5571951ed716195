"""The nodes of a simulated cluster: which of them coordinates the group, and the fate of those that did.

All of them share the log of the group. One that is killed or paused stays silent until another is elected and has read
the log. A paused one that runs again later has been deposed and does not know: for a while it answers from memory
the members that still ask it, and its writes count nowhere (``classic_zombie`` says the same of the model).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, cast

from rebalance_check.impl.coordinator import GroupCoordinator
from rebalance_check.impl.coordinator.logs import OnOutcome
from rebalance_check.impl.coordinator.records import Record
from rebalance_check.impl.coordinator.timers import TimerKind
from rebalance_check.impl.coordinator.validation import refused
from rebalance_check.impl.protocol.messages import DescribedGroup, FindCoordinatorReply, GroupReply, GroupRequest
from rebalance_check.impl.runtime.clock import Timer, VirtualClock
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.group_config import GROUP
from rebalance_check.impl.simulator.log_reading import LogReading, Outcome
from rebalance_check.impl.simulator.network import SimulatedNetwork, Token
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import CoordinatorElected, LogTailLost, NodeChanged

LOADING_MS: Final = 2_000
"""How long a coordinator reads its log, where that takes time at all."""

ELECTION_MS: Final = 3_000
"""``broker.session.timeout.ms``: how long a node must be silent until another is elected. As much shorter than Kafka's
9 s as the sessions of members are, which it must leave time to."""

NOTICED_MS: Final = 10_000
"""How long a node that could not read its log leads the group all the same: no time-out of Kafka's ends that."""

LEARNING_MS: Final = 3_000
"""How long a node that was paused and runs again does not know that it was deposed."""

NEVER: Final = -1
"""The epoch of an event that did not happen."""

NODES: Final = 3

PORT: Final = 9092

CRASH, CRASH_AND_LOAD, RESIGN, RESIGN_LATE = range(4)
"""How a coordinator is taken away."""


class NodeLog:
    """The log of the group as one node writes it; ``records`` are those of all nodes.

    A record that a deposed node appends is never replicated and never answered, until the node learns of it.
    """

    __slots__ = ("_is_writing", "is_deposed", "records")

    def __init__(self, records: list[Record]) -> None:
        self.records = records
        self.is_deposed = False
        self._is_writing = False

    def append(self, records: tuple[Record, ...], on_outcome: OnOutcome) -> None:
        """Keep ``records`` and report success, while this node leads the log."""
        self._is_writing = self.is_deposed
        if not self._is_writing:
            self.records.extend(records)
            on_outcome(Error.NONE, len(self.records) - 1)

    def barrier(self, on_outcome: OnOutcome) -> None:
        """Report at once, unless something is being written in vain."""
        if not self._is_writing:
            on_outcome(Error.NONE, len(self.records) - 1)


class Node:
    """A coordinator on a node; ``inbox`` has requests that reached its socket while it was paused.

    ``failed_in`` is the last epoch in which it could not read its log: in that one it does not try again.
    """

    def __init__(self, number: int, coordinator: GroupCoordinator, log: NodeLog) -> None:
        self.number = number
        self.coordinator = coordinator
        self.log = log
        self.is_dead = False
        self.is_paused = False
        self.must_load = False
        self.failed_in = NEVER
        self.inbox: list[tuple[Token | None, GroupRequest | None]] = []
        self.timer: Timer | None = None

    @property
    def is_silent(self) -> bool:
        """Whether it neither answers nor lets its timers fire."""
        return self.is_dead or self.is_paused


class Nodes:
    """The cluster under one group. ``start`` makes a coordinator on a log; ``recorder`` is the harness's.

    ``reading`` says of each reading of the log how long it takes, and how it ends.
    """

    def __init__(
        self,
        clock: VirtualClock,
        network: SimulatedNetwork,
        start: Callable[[NodeLog], GroupCoordinator],
        recorder: Recorder,
        reading: LogReading,
    ) -> None:
        self._clock = clock
        self._network = network
        self._start = start
        self._reading = reading
        self._recorder = recorder
        self.epoch = 0
        self.records: list[Record] = []
        self.leader = self._node(0)
        self._paused: list[Node] = []
        self._zombies: list[Node] = []
        self._at: dict[int, Node] = {0: self.leader}

    def _node(self, number: int) -> Node:
        log = NodeLog(self.records)
        return Node(number, self._start(log), log)

    # -------------------------------------------------------------------------------------------- requests

    def arrive(self, number: int, token: Token | None, request: GroupRequest) -> None:
        """A request reaches a node; one that never coordinated the group refuses it."""
        node = self._at.get(number)
        if node is None:
            self._network.answer(token, refused(request, Error.NOT_COORDINATOR))
        elif node.is_paused:
            node.inbox.append((token, request))
        elif not node.is_dead:
            self.answer(node, node.coordinator.handle(token, request, self._clock.now_ms))

    def look_up(self, number: int, token: Token | None) -> None:
        """A node is asked who coordinates the group; one that was deposed and does not know names itself."""
        node = self._at.get(number)
        if node is not None and node.is_paused:
            node.inbox.append((token, None))
        elif node is None or not node.is_dead:
            known = number if node in self._zombies else self.leader.number
            self._network.answer(token, FindCoordinatorReply(node_id=known, host=f"node{known}", port=PORT))

    def answer(self, node: Node, answers: list[tuple[Hashable, GroupReply]]) -> None:
        """Send the answers of a node, and let its next timer fire in time.

        A timer that was put off meanwhile wakes the coordinator for nothing, and is armed again.
        """
        for hashable, reply in answers:
            token = cast("Token | None", hashable)
            self._network.answer(token, reply)
        deadline_ms, armed = node.coordinator.next_deadline(), node.timer
        if deadline_ms is not None and (armed is None or deadline_ms < armed.deadline_ms):
            if armed is not None:
                armed.cancel()
            node.timer = self._clock.at(deadline_ms, lambda: self._advance(node))

    def _advance(self, node: Node) -> None:
        node.timer = None
        if not node.is_silent:
            self.answer(node, node.coordinator.advance(self._clock.now_ms))

    def describe(self) -> DescribedGroup:
        """The group at the node that coordinates it, or is to, as soon as it has read its log."""
        return self.leader.coordinator.describe(GROUP)

    def armed(self) -> frozenset[TimerKind]:
        """The kinds of the timers that are armed for the group."""
        return self.leader.coordinator.armed(GROUP, self._clock.now_ms)

    # -------------------------------------------------------------------------------------------- faults of nodes

    def fail_over(self, choice: int) -> None:
        """The coordinator is taken away, on a node that stays: see `UNUSUAL_CHURN` for the meaning of each choice."""
        node, now_ms, epoch = self.leader, self._clock.now_ms, self.epoch
        if node.is_silent:
            return
        self.epoch += 1
        if choice in {CRASH, CRASH_AND_LOAD}:
            node.coordinator.start_loading()
        if choice == RESIGN:
            self.answer(node, node.coordinator.unload(now_ms, epoch + 1))
        if choice in {CRASH_AND_LOAD, RESIGN}:
            self._clock.after(LOADING_MS + self._reading.longer_ms(), lambda: self.load(node))
        else:
            self.load(node)
        if choice == RESIGN_LATE:
            self.answer(node, node.coordinator.unload(now_ms, epoch))

    def kill(self, lost: int) -> None:
        """The leader dies without a word; its successor has the log but for the last ``lost`` records."""
        node = self.leader
        if not node.is_dead:
            node.is_dead = True
            self._network.kill(node.number)
            node.coordinator.start_loading()  # it forgets everything, and observers see that
            self._emit_change(node, "killed")
            self._clock.after(ELECTION_MS, lambda: self._succeed(node, lost))

    def pause(self) -> None:
        """The leader stops where it stands."""
        node = self.leader
        if not node.is_silent:
            node.is_paused = True
            self._paused.append(node)
            self._emit_change(node, "paused")
            self._clock.after(ELECTION_MS, lambda: self._succeed(node, 0))

    def resume(self) -> None:
        """Every paused node runs on: first the requests in its socket, then all timers that are due."""
        paused, self._paused = self._paused, []
        for node in paused:
            node.is_paused = False
            if not node.is_dead:
                self._emit_change(node, "resumed")
                self._run_on(node)

    def _run_on(self, node: Node) -> None:
        if node in self._zombies:
            self._clock.after(LEARNING_MS, lambda: self._resign(node))
        if node.must_load:
            self.load(node)
        inbox, node.inbox = node.inbox, []
        for token, request in inbox:
            if request is None:
                self.look_up(node.number, token)
            else:
                self.answer(node, node.coordinator.handle(token, request, self._clock.now_ms))
        self._advance(node)

    def move(self, loading_ms: int) -> None:
        """The leader hands the group over in good order: it refuses parked requests, and another reads the log."""
        node = self.leader
        if not node.is_silent:
            self.answer(node, node.coordinator.unload(self._clock.now_ms, self.epoch + 1))
            self._elect(loading_ms)

    def _succeed(self, node: Node, lost: int) -> None:
        """The leader has been silent for too long: one that is only paused goes on believing that it leads."""
        if node is not self.leader or not node.is_silent:
            return
        if not node.is_dead:
            node.coordinator.depose()
            node.log.is_deposed = True
            self._zombies.append(node)
        if lost and self.records:
            del self.records[-lost:]
            self._recorder.emit(LogTailLost(records=lost))
        self._elect(LOADING_MS)

    def _elect(self, loading_ms: int) -> None:
        """The next node in turn is elected; those that are dead run again by then, and remember nothing."""
        self.epoch += 1
        node = self.leader = self._node((self.leader.number + 1) % NODES)
        node.coordinator.start_loading()
        self._restart(node.number)
        self._at[node.number] = node
        self._recorder.emit(CoordinatorElected(node=node.number, incarnation=self.epoch))
        self._clock.after(loading_ms + self._reading.longer_ms(), lambda: self.load(node))

    def _restart(self, elected: int) -> None:
        """Dead nodes are back, as nodes that coordinate nothing; so is a paused one whose turn it is to be elected.

        One that runs and does not know that it was deposed learns it then, or its old self would go on next to it.
        """
        before = self._at.get(elected)
        if before is not None and before.is_paused:
            before.is_dead = True
            before.is_paused = False
            self._paused.remove(before)
            if before in self._zombies:
                self._zombies.remove(before)
        elif before is not None:
            self._resign(before)
        for number in [number for number, node in self._at.items() if node.is_dead]:
            del self._at[number]
            self._network.revive(number)

    def load(self, node: Node) -> None:
        """The log is read, as soon as the node runs; nothing happens when it was replaced meanwhile."""
        node.must_load = node.is_paused
        if node is not self.leader or node.is_silent or node.failed_in == self.epoch:
            return
        outcome = self._reading.outcome()
        if outcome is not Outcome.READ:
            self._emit_change(node, "load-failed")
        if outcome is Outcome.FAILED:
            self._fail(node)
        else:
            records = () if outcome is Outcome.FORGOTTEN else self.records
            self.answer(node, node.coordinator.load(records, self._clock.now_ms, self.epoch))

    def _fail(self, node: Node) -> None:
        """It refuses everything from here on, until an operator who notices has another one elected."""
        node.failed_in = epoch = self.epoch
        self.answer(node, node.coordinator.unload(self._clock.now_ms))
        self._clock.after(NOTICED_MS, lambda: self._replace(node, epoch))

    def _replace(self, node: Node, epoch: int) -> None:
        """Unless it was replaced, or began to load once more, meanwhile; the operator waits for one that is silent."""
        if node is not self.leader or self.epoch != epoch:
            return
        if node.is_silent:
            self._clock.after(NOTICED_MS, lambda: self._replace(node, epoch))
        else:
            self._elect(LOADING_MS)

    def _resign(self, node: Node) -> None:
        """It learns that it was deposed, unless it was restarted meanwhile."""
        if node not in self._zombies:
            return
        self._zombies.remove(node)
        self.answer(node, node.coordinator.unload(self._clock.now_ms))

    def _emit_change(self, node: Node, change: str) -> None:
        self._recorder.emit(NodeChanged(node=node.number, change=change))
