"""The partitions that COOPERATIVE members gave up between two rounds, although they belonged to their generation and
wanted them."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    PartitionsRevoked,
    RequestSent,
    SubscriptionChanged,
)
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.members import COOPERATIVE


@dataclass(slots=True)
class BetweenRounds:
    """One member: ``is_settled`` after a completed round until it joins again; ``owns_some`` where that round left it
    with partitions.

    ``topics`` are those that it wants (None: unknown), ``early`` has the partitions that it gave up too early,
    ``excused`` says why it gave up something that it need not keep.
    """

    is_settled: bool = False
    owns_some: bool = False
    topics: frozenset[str] | None = None
    is_lost: bool = False
    early: PartitionsRevoked | None = None
    excused: str = ""


class Revocations(Memory):
    """``at_join`` is the member of the join at hand as it was before it; None for a member that is not COOPERATIVE."""

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self._on_started,
            MemberCrashed: self._on_gone,
            MemberLeft: self._on_gone,
            MembershipLost: self._on_lost,
            SubscriptionChanged: self._on_subscription,
            RequestSent: self._on_sent,
            MemberJoined: self._on_joined,
            PartitionsRevoked: self._on_revoked,
            AssignmentCompleted: self._on_completed,
        }
        super().__init__(handlers)
        self._members: dict[str, BetweenRounds] = {}
        self.at_join: BetweenRounds | None = None

    def _on_started(self, event: MemberStarted) -> None:
        self._members.pop(event.member, None)
        if event.protocol.lower() == COOPERATIVE:
            self._members[event.member] = BetweenRounds()

    def _on_gone(self, event: MemberEvent) -> None:
        self._members.pop(event.member, None)

    def _on_lost(self, event: MembershipLost) -> None:
        """A member of no generation loses everything; one that leaves without a request gave it up before."""
        member = self._members.get(event.member)
        if member is not None:
            member.is_lost, member.early, member.excused = True, None, "belongs to no generation"

    def _on_subscription(self, event: SubscriptionChanged) -> None:
        member = self._members.get(event.member)
        if member is not None:
            member.topics = frozenset(event.topics)

    def _on_sent(self, event: RequestSent) -> None:
        """A LeaveGroup explains that the member gave up everything."""
        member = self._members.get(event.member)
        if member is not None and event.api == Api.LEAVE_GROUP:
            member.early, member.excused = None, "left its group"

    def _on_joined(self, event: MemberJoined) -> None:
        """The round begins; a new one is counted from here."""
        member = self._members.get(event.member)
        self.at_join = member
        if member is not None:
            self._members[event.member] = BetweenRounds(topics=member.topics)

    def _on_revoked(self, event: PartitionsRevoked) -> None:
        """Between two rounds a member gives up only partitions that it does not want any more."""
        member = self._members.get(event.member)
        if member is None or not member.is_settled or member.is_lost:
            return
        wanted = [one for one in event.partitions if member.topics is None or topic_of(one) in member.topics]
        if wanted:
            member.early = event
        elif event.partitions:
            member.excused = "does not want the topic any more"

    def _on_completed(self, event: AssignmentCompleted) -> None:
        member = self._members.get(event.member)
        if member is not None:
            member.is_settled, member.owns_some = True, bool(event.owned)
