"""A group of virtual Kafka as the `Transport` of a lockstep run: time is virtual, so sessions really run out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.lockstep.answers import TOPIC
from rebalance_check.impl.lockstep.speech import GROUP_ID
from rebalance_check.impl.lockstep.transport import Observation
from rebalance_check.impl.messages import GroupReply, GroupRequest
from rebalance_check.integration.virtual.codec import decoded, delete_error, delete_request, encoded, observed
from rebalance_check.integration.virtual.process import VirtualKafka, World
from rebalance_check.model.bounds import Bounds
from rebalance_check.model.errors import Error, RebalanceCheckError

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
    """One group in a world of its own, reset by `open`; ``seed`` decides the member ids, and so hash order.

    What the group looks like is asked along with each request, in the same round trip. A session ends when virtual time
    reaches the deadline of its timer; timers of others that become due on the way are late, as they may be in a broker,
    and those of members that live are set anew by what these send next.
    """

    def __init__(self, kafka: VirtualKafka, seed: int = 0) -> None:
        self.kafka = kafka
        self.seed = seed
        self.requests = 0
        self._world: World | None = None
        self._incarnations: dict[int, int] = {}
        self._asked: dict[int, _Asked] = {}
        self._inspection: int | None = None
        self._observation: Observation | None = None

    @property
    def world(self) -> World:
        """The world of the run that is open."""
        if self._world is None:
            raise RebalanceCheckError("no run is open on this transport: open one first")
        return self._world

    def open(self, bounds: Bounds) -> None:
        """Begin with an empty log in a world whose member ids follow from the seed."""
        self._asked.clear()
        self._incarnations.clear()
        self._observation = None
        self._world = self._world or self.kafka.world()
        settings = {INITIAL_DELAY: str(DELAY_MS if bounds.initial_delay else 0)}
        self.world.reset(self.seed, {TOPIC: bounds.partitions}, settings)
        self._look()

    def request(self, connection: int, request: GroupRequest) -> None:
        """Send a request, and ask right behind it what the group looks like."""
        self.requests += 1
        number = self.world.post(encoded(request))
        self._asked[number] = _Asked(connection, self._incarnations.get(connection, 0), request)
        self._look()

    def answers(self, at_least: int) -> list[tuple[int, GroupReply]]:  # noqa: ARG002 - nothing is ever under way here
        """What the coordinator has answered since the last call."""
        self.observe()
        found = []
        for number, body in self.world.take_replies():
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
        self.kafka.ignore(self.world.post_control(f"session {GROUP_ID} {member_id}"))
        self._look()

    def expire_initial_delay(self) -> None:
        """Fire the timer of the join phase until the phase is over: newcomers prolong the delay."""
        while self.observe().described.state == PREPARING:
            self.world.control(f"join {GROUP_ID}")
            self._look()

    def expire_rebalance(self) -> None:
        """Go to the deadline of the join phase. Where none runs, nothing happens, and that is seen."""
        self._expire("join")

    def expire_sync(self) -> None:
        """Go to the deadline by which all must have synced. Where none runs, nothing happens, and that is seen."""
        self._expire("sync")

    def _expire(self, timer: str) -> None:
        self.kafka.ignore(self.world.post_control(f"{timer} {GROUP_ID}"))
        self._look()

    def delete_group(self) -> Error:
        """DeleteGroups."""
        number = self.world.post(delete_request(GROUP_ID))
        self._look()
        self.observe()
        replies = dict(self.world.take_replies())
        body = replies.pop(number, None)
        self.world.replies = [*replies.items()]
        if body is None:
            raise RebalanceCheckError("virtual Kafka left a DeleteGroups unanswered: this is a defect of its glue")
        return delete_error(body)

    def observe(self) -> Observation:
        """The group after all that was sent, with what only an insider sees."""
        if self._inspection is not None:
            self._observation = observed(self.world.answer(self._inspection), scala=self.kafka.release.scala)
            self._inspection = None
        if self._observation is None:
            raise RebalanceCheckError("no run is open on this transport: open one first")
        if self.world.thrown:
            raise RebalanceCheckError(f"Kafka's coordinator threw {self.world.thrown[0]}: a broker would log it")
        return self._observation

    def may_change(self, patience: int) -> bool:  # noqa: ARG002 - see below
        """Never: what is due at this instant has happened."""
        return False

    def prefer_leader(self, member: int) -> None:
        """Kafka's hash order decides, and with it the seed."""

    def close(self) -> None:
        """Give the world back; the process belongs to whoever started it."""
        if self._inspection is not None:
            self.kafka.ignore(self._inspection)
            self._inspection = None
        if self._world is not None:
            self.kafka.give_back(self._world)
            self._world = None

    def _look(self) -> None:
        """Ask what the group looks like after what was sent last."""
        if self._inspection is not None:
            self.kafka.ignore(self._inspection)
        self._inspection = self.world.post_inspection(GROUP_ID)
