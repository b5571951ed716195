"""Progress of a group as a whole: each partition that exists and is wanted gets an owner."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    CoordinatorElected,
    Event,
    IncarnationEnded,
    IncarnationStarted,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    NodeChanged,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    SubscriptionChanged,
    TopicsDescribed,
)
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.invariants.deadline_fold import DeadlineFold
from rebalance_check.properties.kinds import Handler, Invariant, Kind, Memories
from rebalance_check.properties.verdict import Violation
from rebalance_check.properties.views.holdings import Holdings


class EveryPartitionGetsAnOwnerViolated(Violation):
    """A partition had no owner for longer than two rebalances take, and a member of the group wants it."""


class _Owned(DeadlineFold):
    """Which partitions exist, each with its topic, who wants them, and who is in the group.

    ``wanted`` are the topics of each process, ``present`` the processes that are in a generation.
    """

    needs = ((MemberStarted, SubscriptionChanged), (MemberJoined, AssignmentCompleted))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            TopicsDescribed: self.on_topics,
            MemberStarted: self.on_started,
            SubscriptionChanged: self.on_subscription,
            **dict.fromkeys((MemberJoined, AssignmentCompleted), self.on_present),
            **dict.fromkeys((MemberCrashed, MemberLeft, MembershipLost, MemberPaused, MemberResumed), self.on_absent),
            **dict.fromkeys((PartitionsAssigned, PartitionsRevoked, PartitionsLost), self.on_moved),
            **dict.fromkeys((NodeChanged, CoordinatorElected, IncarnationStarted, IncarnationEnded), self.on_fault),
        }
        super().__init__(invariant, handlers)
        self.bookkeeping = frozenset(handlers) - {TopicsDescribed}
        self._exist: tuple[tuple[str, str], ...] = ()
        self._metadata_ms = 0
        self._wanted: dict[str, frozenset[str]] = {}
        self._present: set[str] = set()

    def share(self, memories: Memories) -> None:
        """Who holds what all folds of a group know together."""
        super().share(memories)
        self._holdings = Holdings.among(memories)
        self.memories = (*self.memories, self._holdings.rounds, self._holdings.instances, self._holdings)

    def on_topics(self, event: TopicsDescribed) -> None:
        """Other partitions exist; members learn of them in the time that metadata may be old."""
        self._exist = tuple((partition, topic_of(partition)) for partition in event.partitions)
        self._metadata_ms = event.metadata_max_age_ms
        self._begin_again(event)

    def on_started(self, event: MemberStarted) -> None:
        """A process starts, and wants these topics."""
        self._wanted[event.member] = frozenset(event.topics)
        self.on_absent(event)

    def on_subscription(self, event: SubscriptionChanged) -> None:
        """It wants others; the group assigns them in its next rebalance."""
        self._wanted[event.member] = frozenset(event.topics)
        self._begin_again(event)

    def on_present(self, event: MemberEvent) -> None:
        """The member is in a generation."""
        if event.member not in self._present:
            self._present.add(event.member)
            self._begin_again(event)
        else:
            self._look(event)

    def on_absent(self, event: MemberEvent) -> None:
        """The member is in no generation any more, or does not run: the group has to notice."""
        self._present.discard(event.member)
        if isinstance(event, MemberCrashed | MemberLeft):
            self._wanted.pop(event.member, None)
        self._begin_again(event)

    def on_moved(self, event: MemberEvent) -> None:
        """Partitions have other owners."""
        self._look(event)

    def on_fault(self, event: Event) -> None:
        """Another coordinator has to be found first."""
        self._begin_again(event)

    def _begin_again(self, event: Event) -> None:
        self.end_all()
        self._look(event)

    def _look(self, event: Event) -> None:
        """Wait for an owner of each partition that lacks one, and no longer for that of any other."""
        if not self._exist:
            return
        topics = {topic for member in self._present for topic in self._wanted.get(member, ())}
        lacking = [p for p, topic in self._exist if topic in topics and not self._holdings.holders.get(p)]
        for key in [key for key in self.open if key not in lacking]:
            self.end(key)
        for partition in lacking:
            if partition not in self.open:
                self.begin(partition, f"{partition} has no owner", event, self._allowed)

    def _allowed(self) -> int:
        rebalances_ms = self.timeouts.two_rebalances()
        return rebalances_ms + self._metadata_ms if rebalances_ms else 0


EveryPartitionGetsAnOwner: Final = Invariant(
    name="every_partition_gets_an_owner",
    family="liveness",
    claim="a partition that exists, and that a member of the group wants, gets an owner within two rebalances",
    source="ConsumerPartitionAssignor.assign; KIP-429 (a withheld partition is assigned in the follow-up rebalance)",
    premises=(
        "the history says which partitions exist (TopicsDescribed) and what members want (MemberStarted, "
        "SubscriptionChanged)",
        "events carry times and the timeouts of all members; the deadline is the longest session, two join phases and "
        "two sync phases, and the age that metadata may have",
        "it begins again when a member starts, joins, leaves, crashes, loses its membership, is paused or changes its "
        "subscription, when topics change, and when the coordinator does",
        "how long something lasts is read from the clock of one source at a time, unless the run's time is virtual",
        "a history that ends before a deadline is undecided",
    ),
    exempted_by=(
        MemberCrashed,
        MemberLeft,
        SubscriptionChanged,
        PartitionsAssigned,
        AssignmentCompleted,
    ),
    violation=EveryPartitionGetsAnOwnerViolated,
    fold=_Owned,
    kind=Kind.LIVENESS,
)
"""A partition that exists, and that a member of the group wants, gets an owner within two rebalances.

The smallest history that breaks it::

    TopicsDescribed(partitions=("t-0",), metadata_max_age_ms=5000)
    MemberStarted(member="m0", topics=("t",), rebalance_timeout_ms=60000, session_timeout_ms=10000)
    AssignmentCompleted(member="m0", generation=1, owned=())
    OffsetCommitted(member="m0", generation=1, partition="u-0", offset=0, error="NONE", time_ms=400000)
"""

CLAIMS: Final = (EveryPartitionGetsAnOwner,)
"""In the order in which reports name them."""
