"""A scenario on its way, at a live broker and at virtual Kafka."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.impl.protocol.messages import (
    DescribedGroup,
    GroupReply,
    GroupRequest,
    JoinGroupReply,
    JoinGroupRequest,
)
from rebalance_check.impl.scenarios import ScenarioRunner, perform
from rebalance_check.impl.scenarios.runner import settings_of
from rebalance_check.impl.steered.coordinator import Observation
from rebalance_check.integration.differential.connections import Address, Connections, without_hosts
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

GROUP: Final = "g"


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where the live broker and virtual Kafka did not say the same: the scenario until then, and what each said."""

    scenario: tuple[str, ...]
    live: str
    virtual: str

    def __str__(self) -> str:
        """The scenario, as one could write it down, and its end."""
        return "\n".join([*self.scenario, f"  live:    {self.live}", f"  virtual: {self.virtual}"])


class FollowingCoordinator(VirtualCoordinator):
    """Virtual Kafka's coordinator, which receives a request in `follow`, after the live one."""

    def __init__(self, kafka: VirtualKafka, setting: str, connections: Connections, number: int, group_id: str) -> None:
        config = settings_of(setting)
        if config is None:
            raise RebalanceCheckError(f"{setting!r} is no line of settings: a scenario here begins with one")
        super().__init__(kafka, config, number)
        self.defers = True
        self.group_id = group_id
        self.asked: tuple[Hashable, GroupRequest] | None = None
        self._connections = connections
        self._number = number

    def handle(self, token: Hashable, request: GroupRequest, now_ms: int) -> list[tuple[Hashable, GroupReply]]:
        """Send it to the live broker."""
        assert isinstance(token, int)
        self.asked = token, request
        self._connections.send(Address(self._number, token), replace(request, group_id=self.group_id))
        return super().advance(now_ms)

    def follow(self) -> None:
        """Send it to virtual Kafka, too."""
        if self.asked is not None:
            super().handle(*self.asked, 0)
        self.look(GROUP)


class PairedScenario:
    """Performs its lines one by one: `begin`, `learn` until it knows enough, `follow`, `hear`, then `compare`."""

    def __init__(self, coordinator: FollowingCoordinator, scenario: Sequence[str]) -> None:
        self.coordinator = coordinator
        self.compared = 0
        self._lines = list(scenario)
        self._at = 0
        self._runner = ScenarioRunner(coordinator)
        self._known: set[str] = set()
        self._arrived: dict[int, GroupReply] = {}
        self._due: dict[int, GroupReply] = {}
        self._observation: Observation | None = None

    def begin(self) -> bool:
        """Send the next request to the live broker; False at the end of the scenario."""
        self._at += 1
        if self._at >= len(self._lines):
            return False
        self.coordinator.asked = None
        self._arrived.clear()
        perform(self._runner, self._lines[self._at])
        return True

    def arrive(self, token: int, reply: GroupReply) -> None:
        """The live broker answered."""
        self._arrived[token] = reply

    def makes_id(self) -> bool:
        """Whether the live broker makes a member id, and has not answered with it yet."""
        assert self.coordinator.asked is not None
        token, request = self.coordinator.asked
        return isinstance(request, JoinGroupRequest) and not request.member_id and token not in self._arrived

    def learn(self, shown: DescribedGroup | None) -> bool:
        """Find out which member id the live broker made, from its answer or from what it shows; False while it has made
        one that is not seen yet."""
        ids = {member.member_id for member in shown.members} if shown is not None else set()
        ids |= {reply.member_id for reply in self._arrived.values() if isinstance(reply, JoinGroupReply)} - {""}
        made = sorted(ids - self._known)
        if made:
            self._known.update(made)
            self.coordinator.give_id(made[0])
        return bool(made) or not self.makes_id()

    def follow(self) -> None:
        """Let virtual Kafka do the same."""
        self.coordinator.follow()

    def hear(self) -> None:
        """What virtual Kafka says to it."""
        answers, self._observation, _ = self.coordinator.collect()
        self._due = {token: reply for token, reply in answers if isinstance(token, int)}

    def is_answered(self) -> bool:
        """Whether the live broker has given every answer that virtual Kafka gave."""
        return self._due.keys() <= self._arrived.keys()

    def looks_like(self, described: DescribedGroup) -> bool:
        """Whether the live group looks as the virtual one does."""
        return described == self._shown()

    def compare(self, described: DescribedGroup) -> Divergence | None:
        """Both have said what they have to say: where they differ; the scenario goes on where they do not."""
        live = {token: in_order(reply) for token, reply in self._arrived.items()}
        virtual = {token: in_order(reply) for token, reply in self._due.items()}
        self._runner.deliver(list(self._due.items()))
        self.compared += len(virtual)
        if live != virtual:
            return self._parted(live, virtual)
        return None if self.looks_like(described) else self._parted(described, self._shown())

    def _shown(self) -> DescribedGroup:
        assert self._observation is not None
        return without_hosts(self._observation.described)

    def _parted(self, live: object, virtual: object) -> Divergence:
        return Divergence(tuple(self._lines[: self._at + 1]), str(live), str(virtual))


def in_order(reply: GroupReply) -> GroupReply:
    """A reply with its members in the order of their ids: theirs on the wire is hash order."""
    if isinstance(reply, JoinGroupReply):
        return replace(reply, members=tuple(sorted(reply.members, key=lambda member: member.member_id)))
    return reply
