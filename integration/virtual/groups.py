"""Simulated groups of our members on Kafka's own coordinators, in virtual time."""

from __future__ import annotations

import atexit
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Final, cast

from rebalance_check.impl.coordinator.validation import refused
from rebalance_check.impl.protocol.messages import (
    DescribedGroup,
    FindCoordinatorReply,
    GroupReply,
    GroupRequest,
)
from rebalance_check.impl.runtime.clock import Timer
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator.cluster import ClusterParts, OtherCluster
from rebalance_check.impl.simulator.group_config import BROKER, GROUP
from rebalance_check.impl.simulator.network import Token
from rebalance_check.impl.simulator.nodes import ELECTION_MS, LEARNING_MS, LOADING_MS, PORT
from rebalance_check.impl.simulator.schedule import STORES, drawn_protocol
from rebalance_check.impl.simulator.simulation import simulate_into
from rebalance_check.integration.jvm.release import find_release
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import CoordinatorElected, Event, LogTailLost, NodeChanged
from rebalance_check.properties.incarnations import with_incarnations

TOPICS: Final = {"t": 6, "u": 1, "t1": 1, "t2": 1, "t3": 1}
"""Every topic that a simulated group can have, with as many partitions as it can have."""

NODES: Final = 2
"""So many nodes virtual Kafka has; a third one answers look-ups and coordinates nothing."""

FIRST_COORDINATOR: Final = 10
"""The coordinator of each epoch has a number of its own, from this one on: so members show which epoch they mean."""


class VirtualCluster:
    """Kafka's coordinators as the nodes under a simulated group (`rebalance_check.impl.simulator.cluster.Cluster`).

    A node that dies is forgotten at once by virtual Kafka, and by the members as soon as the next one is elected. While
    the coordinator is paused its virtual time stands still; what was due meanwhile is late, as after SIGCONT.
    """

    def __init__(self, kafka: VirtualKafka, parts: ClusterParts) -> None:
        self._clock, self._network, self._recorder = parts.clock, parts.network, parts.recorder
        self._kafka = VirtualCoordinator(kafka, BROKER, parts.seed, TOPICS)
        self._leader = FIRST_COORDINATOR
        self._epoch = 0
        self._is_paused = self._is_dead = False
        self._zombie: int | None = None
        self._is_zombie_paused = False
        self._inbox: list[tuple[Token | None, GroupRequest | None]] = []
        self._timer: Timer | None = None
        self._changes = 0
        self._recorder.emit(CoordinatorElected(node=self._leader, incarnation=0))

    def close(self) -> None:
        """Give the environment back."""
        self._kafka.close()

    # -------------------------------------------------------------------------------------------- requests

    def arrive(self, number: int, token: Token | None, request: GroupRequest) -> None:
        """A request reaches the node of this number."""
        now_ms = self._clock.now_ms
        is_paused = (self._is_paused and number == self._leader) or (self._is_zombie_paused and number == self._zombie)
        if is_paused:
            self._inbox.append((token, request))
        elif number == self._leader and not self._is_dead:
            self._answer(self._kafka.handle(token, request, now_ms))
        elif number == self._zombie and not self._is_zombie_paused:
            self._answer(self._kafka.handle_at_zombie(token, request, now_ms))
        elif number != self._leader:
            self._network.answer(token, refused(request, Error.NOT_COORDINATOR))

    def look_up(self, number: int, token: Token | None) -> None:
        """The node of this number is asked who coordinates the group; a zombie names itself."""
        if number == self._node_of(self._leader) and self._is_paused:
            self._inbox.append((token, None))
        else:
            is_zombie = self._zombie is not None and number == self._node_of(self._zombie)
            known = self._zombie if is_zombie and self._zombie is not None else self._leader
            self._network.answer(token, FindCoordinatorReply(node_id=known, host=f"node{known}", port=PORT))

    @staticmethod
    def _node_of(coordinator: int) -> int:
        """The node that answers look-ups on the machine of a coordinator."""
        return (coordinator - FIRST_COORDINATOR) % NODES

    def describe(self) -> DescribedGroup:
        """The group, as DescribeGroups shows it; Dead where no node can show it."""
        if self._is_dead or self._is_paused:
            return DescribedGroup(group_id=GROUP, state="Dead", protocol_type="", protocol_name="")
        self._pass()
        return self._kafka.describe(GROUP)

    def armed(self) -> None:
        """A run cannot look into Kafka's coordinator."""

    def _answer(self, answers: Iterable[tuple[Hashable, GroupReply]]) -> None:
        for token, reply in answers:
            self._network.answer(cast("Token | None", token), reply)
        if not self._is_paused:
            self._arm()

    def _arm(self) -> None:
        """Wake the coordinator when its next timer is due."""
        deadline_ms, armed = self._kafka.next_deadline(), self._timer
        if armed is not None:
            armed.cancel()
        self._timer = None if deadline_ms is None else self._clock.at(deadline_ms, self._pass)

    def _pass(self) -> None:
        """Let the coordinator's time go on to now."""
        self._timer = None
        if not self._is_paused:
            self._answer(self._kafka.advance(self._clock.now_ms))

    # -------------------------------------------------------------------------------------------- faults of nodes

    def kill(self, lost: int) -> None:
        """The coordinator dies without a word."""
        if self._is_paused or self._is_dead:
            return
        self._forget_zombie()
        self._is_dead = True
        self._network.kill(self._leader)
        self._network.kill(self._node_of(self._leader))
        self._note("killed")
        self._kafka.crash(lost)
        if lost:
            self._recorder.emit(LogTailLost(records=lost))
        self._later(ELECTION_MS, self._succeed)

    def pause(self) -> None:
        """The coordinator stops where it stands; for too long, and another is elected."""
        if self._is_paused or self._is_dead:
            return
        self._forget_zombie()
        self._is_paused = True
        self._note("paused")
        self._later(ELECTION_MS, self._depose)

    def resume(self) -> None:
        """The paused node runs on, as the coordinator or as one that was deposed."""
        if self._zombie is not None and self._is_zombie_paused:
            self._is_zombie_paused = False
            self._note("resumed", self._zombie)
            self._clock.after(LEARNING_MS, self._forget_zombie)
        elif self._is_paused:
            self._is_paused = False
            self._changes += 1
            self._note("resumed")
        inbox, self._inbox = self._inbox, []
        for token, request in inbox:
            number = self._leader if self._zombie is None else self._zombie
            if request is None:
                self.look_up(self._node_of(number), token)
            else:
                self.arrive(number, token, request)
        self._pass()

    def move(self, loading_ms: int) -> None:
        """The coordinator hands the group over: it refuses what is parked, and the other node reads the log."""
        if self._is_paused or self._is_dead:
            return
        self._forget_zombie()
        self._answer(self._kafka.unload(self._clock.now_ms))
        self._kafka.elect(0)
        self._become_leader(loading_ms)

    def fail_over(self, choice: int) -> None:
        """Virtual Kafka knows no failure that keeps the node: even choices kill it, odd ones move the group."""
        if choice % 2:
            self.move(LOADING_MS)
        else:
            self.kill(0)

    def _depose(self) -> None:
        """The paused node was silent for too long: it goes on believing that it leads."""
        self._kafka.depose()
        self._zombie = self._leader
        self._is_zombie_paused = True
        self._is_paused = False
        self._become_leader(LOADING_MS)

    def _succeed(self) -> None:
        dead = self._leader
        self._is_dead = False
        self._become_leader(LOADING_MS)
        self._network.revive(self._node_of(dead))

    def _become_leader(self, loading_ms: int) -> None:
        """The other node is the leader, and begins to read the log."""
        self._epoch += 1
        self._leader = FIRST_COORDINATOR + self._epoch
        self._recorder.emit(CoordinatorElected(node=self._leader, incarnation=self._epoch))
        self._later(loading_ms, lambda: self._answer(self._kafka.load(self._clock.now_ms)))

    def _forget_zombie(self) -> None:
        """The node that was deposed learns of it."""
        if self._zombie is not None:
            self._kafka.resign_zombie()
            self._zombie, self._is_zombie_paused = None, False

    def _later(self, delay_ms: int, action: object) -> None:
        """Do something unless another fault of a node comes before."""
        self._changes += 1
        change = self._changes

        def act() -> None:
            if self._changes == change and callable(action):
                action()

        self._clock.after(delay_ms, act)

    def _note(self, change: str, number: int | None = None) -> None:
        self._recorder.emit(NodeChanged(node=self._leader if number is None else number, change=change))


_running: dict[str, VirtualKafka] = {}


def _kafka(spec: str) -> VirtualKafka:
    """The virtual Kafka of this process; it ends with the process."""
    if spec not in _running:
        _running[spec] = kafka = VirtualKafka(find_release(spec))
        atexit.register(kafka.close)
    return _running[spec]


@dataclass(frozen=True, slots=True)
class VirtualGroups:
    """Seeds to histories: simulated groups on the virtual Kafka that ``spec`` names (``virtual:4.3.1``).

    A value that travels to other processes, each of which starts a virtual Kafka of its own. Where ``mixed`` draws
    status stores, which have no group, there is an election.
    """

    spec: str

    def __call__(self, seed: int, options: SimulationOptions) -> list[Event]:
        """The history of ``seed``, with the incarnation of each generation where members show it.

        Raises: RebalanceCheckError when the release cannot be had, or its coordinator throws.
        """
        if drawn_protocol(seed, options) in STORES:  # they have no group
            options = replace(options, protocol=SimulatedProtocol.ELECTION)
        made: list[VirtualCluster] = []

        def make(parts: ClusterParts) -> VirtualCluster:
            made.append(VirtualCluster(_kafka(self.spec), parts))
            return made[-1]

        history: list[Event] = []
        try:
            simulate_into(seed, options, history.append, OtherCluster(f"simulated members on {self.spec}", make))
        finally:
            for cluster in made:
                cluster.close()
        return list(with_incarnations(history))
