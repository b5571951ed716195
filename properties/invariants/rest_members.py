"""Members at rest: nothing is under way any more, and they know what exists of what they want."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    MemberRested,
    TopicsDescribed,
)
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.kinds import Fold, Invariant, Kind, Memories
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.rest import APART_MS, Looks

FAMILY: Final = "rest"

SETTLED: Final = "the observer looks (MemberRested) only while the group is settled"
"""What every claim about a group at rest presupposes."""

GRACE_MS: Final = 10_000
"""How much longer than the rebalance timeout a request may wait before it is given up, in ms (Kafka: 5 s)."""


class NothingStaysMarkedViolated(Violation):
    """The group was settled, and a member still waited for something."""


class KnowsThePartitionsItWantsViolated(Violation):
    """A member of a settled group knows other partitions of its topics than exist."""


class RestFold(Fold):
    """A fold about looks at a settled group."""

    def share(self, memories: Memories) -> None:
        """All folds remember the same looks."""
        self.looks = Looks.among(memories)
        self.memories = (self.looks,)


class _Unmarked(RestFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberRested: self.on_member})
        self.compared = 0

    def on_member(self, event: MemberRested) -> None:
        """What was marked at the look before is not marked any more, and no request was forgotten."""
        before = self.looks.earlier(event)
        forgotten = [
            f"waits for the reply to {api} since {ms} ms"
            for api, ms in event.in_flight
            if ms > event.rebalance_timeout_ms + GRACE_MS
        ]
        if before is None and not forgotten:
            return
        self.compared = (self.compared or 0) + 1
        stayed = [] if before is None else [mark for mark in event.marks if mark in before.marks]
        if found := [*stayed, *forgotten]:
            self.contradiction(
                f"the group is settled, and {event.member} {found[0]}",
                *((f"{event.member} {each} at {STEP}.", before) for each in stayed),
                *((f"{event.member} {each} at {STEP}, and the group is settled.", event) for each in found),
            )


class _Knows(RestFold):
    needs = ((TopicsDescribed,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberRested: self.on_member})
        self.compared = 0

    def on_member(self, event: MemberRested) -> None:
        """Metadata that is old enough shows what exists."""
        topics = self.looks.topics
        if topics is None or not event.topics or event.time_ms < topics.time_ms + topics.metadata_max_age_ms:
            return
        self.compared = (self.compared or 0) + 1
        exist = {each for each in topics.partitions if topic_of(each) in event.topics}
        if exist != set(event.known):
            self.contradiction(
                f"{event.member} knows {listed(event.known)} of its topics, and {listed(sorted(exist))} exist",
                (f"{listed(topics.partitions)} exist since {STEP}.", topics),
                (f"{event.member} wants {listed(event.topics)} and knows {listed(event.known)} at {STEP}.", event),
            )


def listed(names: tuple[str, ...] | list[str]) -> str:
    """``t-0, t-1``, or ``nothing``."""
    return ", ".join(names) or "nothing"


NothingStaysMarked: Final = Invariant(
    name="nothing_stays_marked",
    family=FAMILY,
    claim="a member of a settled group does not go on waiting for a join, a commit, a look-up, a revocation or a reply",
    source="AbstractCoordinator.joinGroupIfNeeded (resetJoinGroupFuture, needsJoinPrepare); "
    "ConsumerCoordinator.onJoinPrepare (markPendingRevocation, autoCommitOffsetRequestFuture)",
    premises=(
        SETTLED,
        f"what is marked at two looks in one generation, {APART_MS // 1000} s or more apart, stays marked",
        f"a request is given up {GRACE_MS // 1000} s after the rebalance timeout at the latest",
    ),
    violation=NothingStaysMarkedViolated,
    fold=_Unmarked,
    kind=Kind.LIVENESS,
)
"""A member of a settled group does not go on waiting for anything.

The smallest history that breaks it::

    MemberRested(member="m0", generation=2, marks=("waits to revoke t-0",))
    MemberRested(member="m0", generation=2, marks=("waits to revoke t-0",), time_ms=7000)
"""

KnowsThePartitionsItWants: Final = Invariant(
    name="knows_the_partitions_it_wants",
    family=FAMILY,
    claim="a member of a settled group knows the partitions of its topics once metadata has had time to arrive",
    source="Metadata.timeToNextUpdate (metadata.max.age.ms), ConsumerMetadata.newMetadataRequestBuilder",
    premises=(SETTLED, "TopicsDescribed and MemberRested carry the time of one clock"),
    exempted_by=(TopicsDescribed,),
    violation=KnowsThePartitionsItWantsViolated,
    fold=_Knows,
    kind=Kind.LIVENESS,
)
"""A member of a settled group knows the partitions of its topics once metadata has had time to arrive.

The smallest history that breaks it::

    TopicsDescribed(partitions=("t-0", "t-1"), metadata_max_age_ms=5000)
    MemberRested(member="m0", generation=1, topics=("t",), known=("t-0",), time_ms=6000)
"""

CLAIMS: Final = (NothingStaysMarked, KnowsThePartitionsItWants)
"""In the order in which reports name them."""
