"""A group of virtual Kafka as the `Transport` of a lockstep run: time is virtual, so sessions really run out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.conformance.answers import TOPIC
from rebalance_check.impl.conformance.requests import GROUP_ID
from rebalance_check.impl.conformance.transport import Observation
from rebalance_check.impl.protocol.messages import GroupReply, GroupRequest
from rebalance_check.integration.virtual.codec import decoded, delete_error, delete_request, observed
from rebalance_check.integration.virtual.process import VirtualEnvironment, VirtualKafka
from rebalance_check.integration.wire.templates import encoded
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

INITIAL_DELAY: Final = "group.initial.rebalance.delay.ms"
DELAY_MS: Final = 3_000
PREPARING: Final = "PreparingRebalance"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request without an answer: whose it is, on which of its connections, and how to read the answer."""

    connection: int
    incarnation: int
    request: GroupRequest


class VirtualTransport:
    """One group in a environment of its own, reset by `open`; ``seed`` decides the member ids, and so hash order.

    What the group looks like is asked along with each request, in the same round trip. A session ends when virtual time
    reaches the deadline of its timer; timers of others that become due on the way are late, as they may be in a broker,
    and those of members that live are set anew by what these send next.
    """

    def __init__(self, kafka: VirtualKafka, seed: int = 0) -> None:
        self.kafka = kafka
        self.seed = seed
        self.requests = 0
        self._environment: VirtualEnvironment | None = None
        self._incarnations: dict[int, int] = {}
        self._asked: dict[int, _Asked] = {}
        self._inspection: int | None = None
        self._observation: Observation | None = None
        self._node = self._epoch = self._lost = self._zombie = 0
        self._serving = True

    @property
    def environment(self) -> VirtualEnvironment:
        """The environment of the run that is open."""
        if self._environment is None:
            raise RebalanceCheckError("no run is open on this transport: open one first")
        return self._environment

    def open(self, bounds: Bounds) -> None:
        """Begin with an empty log in a environment whose member ids follow from the seed."""
        self._asked.clear()
        self._incarnations.clear()
        self._observation = None
        self._node, self._epoch, self._lost, self._serving = 0, 0, 0, True
        self._environment = self._environment or self.kafka.environment()
        settings = {INITIAL_DELAY: str(DELAY_MS if bounds.initial_delay else 0)}
        self.environment.reset(self.seed, {TOPIC: bounds.partitions}, settings)
        self._look()

    def request(self, connection: int, request: GroupRequest) -> None:
        """Send a request, and ask right behind it what the group looks like."""
        self.requests += 1
        number = self.environment.post(encoded(request), self._node)
        self._asked[number] = _Asked(connection, self._incarnations.get(connection, 0), request)
        self._look()

    def answers(self, at_least: int) -> list[tuple[int, GroupReply]]:  # noqa: ARG002 - nothing is ever under way here
        """What the coordinator has answered since the last call."""
        if self.observe() is None:
            self.environment.control("pending", self._node)
        found = []
        for number, body in self.environment.take_replies():
            asked = self._asked.pop(number, None)
            if asked is None or asked.incarnation != self._incarnations.get(asked.connection, 0):
                continue
            if body is None:
                raise RebalanceCheckError(f"virtual Kafka does not understand {asked.request}: its bytes are wrong")
            found.append((asked.connection, decoded(asked.request, body)))
        return found

    def disconnect(self, connection: int) -> None:
        """Answers to what was sent so far are dropped."""
        self._incarnations[connection] = self._incarnations.get(connection, 0) + 1

    def expire(self, member_id: str) -> None:
        """Go to the deadline of this member's session. Where no session runs, nothing happens, and that is seen."""
        self._control(f"session {GROUP_ID} {member_id}")
        self._look()

    def expire_initial_delay(self) -> None:
        """Fire the timer of the join phase until the phase is over: newcomers prolong the delay."""
        while self._observed().described.state == PREPARING:
            self.environment.control(f"join {GROUP_ID}", self._node)
            self._look()

    def expire_rebalance(self) -> None:
        """Go to the deadline of the join phase. Where none runs, nothing happens, and that is seen."""
        self._expire("join")

    def expire_sync(self) -> None:
        """Go to the deadline by which all must have synced. Where none runs, nothing happens, and that is seen."""
        self._expire("sync")

    def _expire(self, timer: str) -> None:
        self._control(f"{timer} {GROUP_ID}")
        self._look()

    def delete_group(self) -> Error:
        """DeleteGroups."""
        number = self.environment.post(delete_request(GROUP_ID), self._node)
        self._look()
        self.observe()
        replies = dict(self.environment.take_replies())
        body = replies.pop(number, None)
        self.environment.replies = [*replies.items()]
        if body is None:
            raise RebalanceCheckError("virtual Kafka left a DeleteGroups unanswered: this is a defect of its glue")
        return delete_error(body)

    def observe(self) -> Observation | None:
        """The group after all that was sent, with what only an insider sees; None while no coordinator serves."""
        return self._observed() if self._serving else None

    def _observed(self) -> Observation:
        if self._inspection is not None:
            self._observation = observed(self.environment.answer(self._inspection), scala=self.kafka.release.scala)
            self._inspection = None
        if self._observation is None:
            raise RebalanceCheckError("no run is open on this transport: open one first")
        if self.environment.thrown:
            raise RebalanceCheckError(f"Kafka's coordinator threw {self.environment.thrown[0]}: a broker would log it")
        return self._observation

    def may_change(self, patience: int) -> bool:  # noqa: ARG002 - see below
        """Never: what is due at this instant has happened."""
        return False

    def prefer_leader(self, seat: str) -> None:
        """Kafka's hash order decides, and with it the seed."""

    def close(self) -> None:
        """Give the environment back; the process belongs to whoever started it."""
        if self._inspection is not None:
            self.kafka.ignore(self._inspection)
            self._inspection = None
        if self._environment is not None:
            self.kafka.give_back(self._environment)
            self._environment = None

    def _look(self) -> None:
        """Ask what the group looks like after what was sent last."""
        if self._inspection is not None:
            self.kafka.ignore(self._inspection)
            self._inspection = None
        if self._serving:
            self._inspection = self.environment.post_inspection(GROUP_ID, self._node)

    # ------------------------------------------------------------------------------------------ failover

    def hold_writes(self) -> None:
        """The high watermark stops."""
        self._steer("acknowledge off")

    def commit_writes(self) -> None:
        """The high watermark catches up."""
        self._steer("acknowledge on")
        self._look()

    def crash_coordinator(self, lost: int) -> None:
        """The node stops, and its connections break; the other one has its journal, and is elected."""
        self._stop_looking()
        self._asked.clear()
        self._steer("crash")
        self._lost = lost
        self.elect_coordinator()

    def resign_coordinator(self, lost: int) -> None:
        """The node learns that it is no leader any more."""
        self._stop_looking()
        self._lost = lost
        self._epoch += 1
        self._steer(f"resign {self._epoch}")

    def elect_coordinator(self) -> None:
        """The other node has the journal but for its last records, and begins to load."""
        before, self._node = self._node, 1 - self._node
        self._epoch += 1
        self._steer(f"replica {before} {self._lost} clean")
        self._steer("hold-load")
        self._steer(f"elect {self._epoch}")

    def load_coordinator(self) -> None:
        """The journal is read."""
        self._steer("release-load")
        self._serving = True
        self._look()

    def depose_coordinator(self) -> None:
        """The node goes on and cannot commit what it writes; the other one has its journal, and is elected."""
        self._stop_looking()
        self._steer("acknowledge off")
        self._zombie, self._lost = self._node, 0
        self.elect_coordinator()

    def request_zombie(self, connection: int, request: GroupRequest) -> None:
        """Send a request to the node that was deposed."""
        self.requests += 1
        number = self.environment.post(encoded(request), self._zombie)
        self._asked[number] = _Asked(connection, self._incarnations.get(connection, 0), request)
        self.environment.control("pending", self._zombie)

    def resign_zombie(self) -> None:
        """The node that was deposed learns of it."""
        self.kafka.trust(self.environment.post_control(f"resign {self._epoch}", self._zombie))

    def _stop_looking(self) -> None:
        self._serving = False
        self._look()

    def _control(self, text: str) -> None:
        """Have the coordinator's node do what may not be possible, which is seen."""
        self.kafka.ignore(self.environment.post_control(text, self._node))

    def _steer(self, text: str) -> None:
        """Have the node that is, or becomes, the coordinator do what is always possible."""
        self.kafka.trust(self.environment.post_control(text, self._node))
