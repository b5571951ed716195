"""Partitions that exist and that no member owns, as far as the events of members show it."""

from __future__ import annotations

from typing import ClassVar

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
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.holdings import Holdings


class Ownerless(Memory):
    """The partitions that exist and that no member owns although one of the group wants it (``lacking``).

    ``exist`` are all partitions, ``metadata_ms`` is how old metadata may be. ``is_shaken``: at this event members,
    topics or the coordinator changed, so that the group needs its time anew.
    """

    uses: ClassVar = (Holdings,)

    def __init__(self, holdings: Holdings) -> None:
        moved, shaken, present = self._on_moved, self._on_shaken, self._on_present
        super().__init__(
            {
                TopicsDescribed: self._on_topics,
                MemberStarted: self._on_wanted,
                SubscriptionChanged: self._on_wanted,
                **dict.fromkeys((MemberJoined, AssignmentCompleted), present),
                **dict.fromkeys(
                    (MemberCrashed, MemberLeft, MembershipLost, MemberPaused, MemberResumed), self._on_absent
                ),
                **dict.fromkeys((PartitionsAssigned, PartitionsRevoked, PartitionsLost), moved),
                **dict.fromkeys((NodeChanged, CoordinatorElected, IncarnationStarted, IncarnationEnded), shaken),
            }
        )
        self.exist: tuple[str, ...] = ()
        self.metadata_ms = 0
        self.lacking: list[str] = []
        self.is_shaken = False
        self._topics: dict[str, str] = {}
        self._holdings = holdings
        self._wanted: dict[str, frozenset[str]] = {}
        self._present: set[str] = set()

    def _on_topics(self, event: TopicsDescribed) -> None:
        """Other partitions exist; members learn of them in the time that metadata may be old."""
        self.exist, self.metadata_ms = event.partitions, event.metadata_max_age_ms
        self._topics = {partition: topic_of(partition) for partition in event.partitions}
        self._look(is_shaken=True)

    def _on_wanted(self, event: MemberStarted | SubscriptionChanged) -> None:
        self._wanted[event.member] = frozenset(event.topics)
        if isinstance(event, MemberStarted):
            self._present.discard(event.member)
        self._look(is_shaken=True)

    def _on_present(self, event: MemberEvent) -> None:
        is_new = event.member not in self._present
        self._present.add(event.member)
        self._look(is_shaken=is_new)

    def _on_absent(self, event: MemberEvent) -> None:
        """The member is in no generation any more, or does not run: the group has to notice."""
        self._present.discard(event.member)
        if isinstance(event, MemberCrashed | MemberLeft):
            self._wanted.pop(event.member, None)
        self._look(is_shaken=True)

    def _on_moved(self, _event: Event) -> None:
        self._look(is_shaken=False)

    def _on_shaken(self, _event: Event) -> None:
        """Another coordinator has to be found first."""
        self._look(is_shaken=True)

    def _look(self, *, is_shaken: bool) -> None:
        self.is_shaken = is_shaken
        wanted = {topic for member in self._present for topic in self._wanted.get(member, ())} if self.exist else set()
        holders = self._holdings.holders
        self.lacking = [one for one in self.exist if self._topics[one] in wanted and not holders.get(one)]
