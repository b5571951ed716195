"""One consumer group as its assignors see it: members with an assignor each, topics that change, and rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from rebalance_check.impl.assignors.assignor import Assignor, with_user_data
from rebalance_check.impl.protocol.consumer_protocol import Assignment, Subscription
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.properties.assignment.courses import Round
from rebalance_check.properties.assignment.problem import Answer, Member, Partition, Problem
from rebalance_check.properties.machines.endless import within

PATIENCE_LINES: Final = 100_000
"""An assignor of this process that has run so many lines of Python for one small problem hangs; hundreds are usual."""


def answer_of(
    assignor: Assignor,
    problem: Problem,
    subscriptions: Mapping[str, Subscription],
    patience_lines: int | None = PATIENCE_LINES,
) -> Answer:
    """The answer of an assignor of this process: an error that it throws is a failure, and so is an endless search."""

    def assign() -> dict[str, Assignment]:
        return with_user_data(assignor.assign(problem.topics, subscriptions, problem.racks))

    try:
        assigned = assign() if patience_lines is None else within(patience_lines, assign)
    except Exception as error:
        return Answer({}, repr(error))
    shares = {name: assigned[name].partitions for name in sorted(assigned)}
    return Answer({name: tuple((tp.topic, tp.partition) for tp in share) for name, share in shares.items()})


def subscription_of(assignor: Assignor, member: Member, *, is_old: bool = False) -> Subscription:
    """The next subscription of a client. One that knows no cooperative protocol has given up all by then.

    ``is_old``: of version 1, so that only user data can say of which generation the claims are.
    """
    keeps = RebalanceProtocol.COOPERATIVE in assignor.protocols
    return Subscription(
        topics=member.topics,
        owned=tuple(TopicPartition(*partition) for partition in member.owned) if keeps else (),
        user_data=assignor.subscription_user_data(member.topics),
        generation=None if is_old else member.generation,
        group_instance_id=member.instance,
        rack=member.rack,
    )


def _received(partitions: Iterable[Partition]) -> Assignment:
    return Assignment(partitions=tuple(TopicPartition(*partition) for partition in partitions))


@dataclass(slots=True)
class _Client:
    """``garbled``: user data in no assignor's format (another library's, or a defect's)."""

    assignor: Assignor
    says: Member
    garbled: bytes | None = None

    def understood(self, *, is_old: bool) -> Member:
        """The claims that a leader can read."""
        if self.garbled is None:
            return self.says
        if RebalanceProtocol.COOPERATIVE not in self.assignor.protocols:
            return replace(self.says, owned=(), generation=None)
        return replace(self.says, generation=None) if is_old else self.says

    def subscription(self, *, is_old: bool) -> Subscription:
        """Its next subscription."""
        written = subscription_of(self.assignor, self.says, is_old=is_old)
        return written if self.garbled is None else replace(written, user_data=self.garbled)


@dataclass(slots=True)
class AssignorGroup:
    """A group and its rounds.

    ``new_assignor`` makes the assignor of one client, which may remember anything. Members that ``are_old`` write
    subscriptions of version 1, without a generation (KIP-792). ``member_racks`` are dealt to
    members and replicas by their numbers; empty where no racks are known.
    """

    new_assignor: Callable[[], Assignor]
    are_static: bool = False
    are_old: bool = False
    member_racks: tuple[str | None, ...] = ()
    topics: dict[str, int] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    _clients: dict[str, _Client] = field(default_factory=dict)
    _away: set[str] = field(default_factory=set)

    @property
    def members(self) -> tuple[str, ...]:
        """The members of the next round, in the order in which they joined."""
        return tuple(name for name in self._clients if name not in self._away)

    def grow(self, topic: str, partitions: int) -> None:
        """A topic is made, or gets more partitions; none loses any."""
        self.topics[topic] = max(partitions, self.topics.get(topic, 0))

    def join(self, member: str, topics: tuple[str, ...]) -> None:
        """A process starts, and has nothing; the one of this name before it is gone."""
        self.leave(member)
        says = Member(topics=topics, instance=f"i{member}" if self.are_static else None, rack=self._rack(member))
        self._clients[member] = _Client(self.new_assignor(), says)

    def _rack(self, member: str) -> str | None:
        return self.member_racks[sum(map(ord, member)) % len(self.member_racks)] if self.member_racks else None

    def _replicas(self) -> dict[str, tuple[tuple[str, ...], ...]] | None:
        """Each partition has replicas in the racks of two members, as far as these have one."""
        if not self.member_racks:
            return None
        pairs = [tuple({one: None for one in pair if one}) for pair in pairwise((*self.member_racks, None))]
        return {topic: tuple(pairs[n % len(pairs)] for n in range(count)) for topic, count in self.topics.items()}

    def leave(self, member: str) -> None:
        """A process ends for good."""
        self._clients.pop(member, None)
        self._away.discard(member)

    def miss(self, member: str) -> None:
        """A process is cut off: rounds pass it by, and it keeps its belief."""
        if member in self._clients:
            self._away.add(member)

    def come_back(self, member: str) -> None:
        """A process that was cut off joins again, with the claims that it had."""
        self._away.discard(member)

    def subscribe(self, member: str, topics: tuple[str, ...]) -> None:
        """Other topics from the next round on; one may be named twice."""
        if client := self._clients.get(member):
            client.says = replace(client.says, topics=topics)

    def claim(self, member: str, owned: tuple[Partition, ...], age: int) -> None:
        """A process that is mistaken: it claims anything, as of so many generations before the last."""
        if client := self._clients.get(member):
            generation = len(self.rounds) - age
            client.assignor.on_assignment(_received(owned), generation)
            client.says = replace(client.says, owned=owned, generation=generation)

    def garble(self, member: str, user_data: bytes | None) -> None:
        """A process writes these bytes as its user data from now on; None: those of its assignor."""
        if client := self._clients.get(member):
            client.garbled = user_data

    def round(self, leader: str, deaf: frozenset[str] = frozenset()) -> Round | None:
        """One rebalance: ``leader`` computes, and all hear of it but the ``deaf``. None where no member takes part."""
        if not self.members:
            return None
        leader = leader if leader in self.members else self.members[0]
        problem = Problem(dict(self.topics), self._said(), self._replicas())
        subscriptions = {name: self._clients[name].subscription(is_old=self.are_old) for name in problem.members}
        answer = answer_of(self._clients[leader].assignor, problem, subscriptions)
        done = Round(problem, answer, answer_of(self.new_assignor(), problem, subscriptions))
        self.rounds.append(done)
        for name in answer.assigned.keys() & set(self.members) - deaf:
            self._hear(name, answer.assigned[name])
        return done

    def _said(self) -> dict[str, Member]:
        return {name: self._clients[name].understood(is_old=self.are_old) for name in self.members}

    def _hear(self, member: str, given: tuple[Partition, ...]) -> None:
        generation = len(self.rounds)
        client = self._clients[member]
        client.assignor.on_assignment(_received(given), generation)
        client.says = replace(client.says, owned=given, generation=generation)
