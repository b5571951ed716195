"""What a leader deals out where all members want the same: shares of one size, and to each what it had already."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    MemberStarted,
    RunStarted,
    SubscriptionChanged,
    TopicsDescribed,
)
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import WAITING, Recent

RANGE: Final = "range"
BALANCED: Final = frozenset({"roundrobin", "sticky"})
"""The assignors that give each member as many partitions as the next, or one more."""
EAGER_STICKY: Final = "sticky"
STICKY: Final = frozenset({EAGER_STICKY, "cooperative-sticky"})


class SharesAreOfOneSizeViolated(Violation):
    """A member was assigned two partitions more than another that wants the same topics."""


class StickyMembersKeepTheirShareViolated(Violation):
    """A sticky assignor took partitions from a member that it did not have too many of."""


class _Shares(Fold):
    """Whether all processes have wanted the same topics so far, and which partitions exist."""

    bookkeeping = frozenset({RunStarted, MemberStarted, SubscriptionChanged, TopicsDescribed})
    needs = ((RunStarted,), (MemberStarted,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RunStarted: self.on_run,
            MemberStarted: self.on_wish,
            SubscriptionChanged: self.on_wish,
            TopicsDescribed: self.on_topics,
            AssignmentComputed: self.on_computed,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self.exist: frozenset[str] = frozenset()
        self.all_record = False
        self._wanted: frozenset[str] | None = None
        self._differ = False

    def on_run(self, event: RunStarted) -> None:
        """In a simulated run every member is recorded."""
        self.all_record = event.punctual

    def on_wish(self, event: MemberStarted | SubscriptionChanged) -> None:
        """One that wants other topics may get more, or less, from here on."""
        wanted = frozenset(event.topics)
        self._differ = self._differ or not wanted or self._wanted not in {None, wanted}
        self._wanted = wanted

    def on_topics(self, event: TopicsDescribed) -> None:
        """What exists from here on."""
        self.exist = frozenset(event.partitions)

    def on_computed(self, event: AssignmentComputed) -> None:
        """A leader has dealt out what all want."""
        if self.all_record and self._wanted and not self._differ and event.assignments:
            self.look(event)

    def look(self, event: AssignmentComputed) -> None:
        """Whether the shares are as they should be."""


class _OneSize(_Shares):
    def look(self, event: AssignmentComputed) -> None:
        """Of each topic with the range assignor, of all with those that balance."""
        if event.protocol in BALANCED:
            self._compare(event, {member: len(given) for member, given in event.assignments}, "partitions")
        elif event.protocol == RANGE:
            for topic in sorted({topic_of(one) for _, given in event.assignments for one in given}):
                sizes = {member: sum(topic_of(one) == topic for one in given) for member, given in event.assignments}
                self._compare(event, sizes, f"partitions of {topic}")

    def _compare(self, event: AssignmentComputed, sizes: dict[str, int], of: str) -> None:
        self.compared = (self.compared or 0) + 1
        least, most = min(sizes, key=lambda one: (sizes[one], one)), max(sizes, key=lambda one: (sizes[one], one))
        if sizes[most] > sizes[least] + 1:
            self.contradiction(
                f"{most} is assigned {sizes[most]} {of}, and {least} {sizes[least]}",
                ("every member wants the same topics;", None),
                (f"{event.member} dealt {sizes[most]} {of} to {most} and {sizes[least]} to {least} with "
                 f"{event.protocol} at {STEP}: contradiction.", event),
            )  # fmt: skip


class _Keeps(_Shares):
    """With the last assignment of each member id: an EAGER member claims that, and says so to its leader alone."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self.handlers = {**self.handlers, AssignmentCompleted: self.on_completed}
        self.bookkeeping = self.bookkeeping | {AssignmentCompleted}
        self._held: Recent[str, AssignmentCompleted] = Recent(WAITING)
        self._highest = -1
        self._restarted = False
        self._protocol = ""

    def on_completed(self, event: AssignmentCompleted) -> None:
        """What it claims when it joins again; the sticky assignor remembers what it dealt out itself."""
        if self.all_record and self._protocol == EAGER_STICKY:
            self._held[event.member_id] = event

    def on_computed(self, event: AssignmentComputed) -> None:
        """After a round with another assignor members claim what that one dealt out, or something older."""
        super().on_computed(event)
        self._protocol = event.protocol
        if event.protocol != EAGER_STICKY:
            self._held = Recent(WAITING)

    def _claims(self, event: AssignmentComputed) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
        """What each member claims, and of which generation."""
        if event.protocol != EAGER_STICKY:
            return dict(event.owned_partitions), dict(event.owned_generations)
        held = {member: self._held[member] for member, _ in event.assignments if member in self._held}
        return (
            {member: completed.owned for member, completed in held.items()},
            {member: completed.generation for member, completed in held.items()},
        )

    def look(self, event: AssignmentComputed) -> None:
        """Each member keeps what it claims with right, or a whole share of it."""
        self._restarted = self._restarted or event.generation < self._highest
        self._highest = max(self._highest, event.generation)
        if event.protocol not in STICKY or self._restarted:
            return
        given = {member: frozenset(each) for member, each in event.assignments}
        dealt = frozenset[str]().union(*given.values())
        rightful = _rightful(*self._claims(event), event.generation - 1)
        withheld = self.exist - dealt if event.protocol == "cooperative-sticky" else frozenset[str]()
        there = dealt | (withheld & frozenset[str]().union(*rightful.values()))
        share = len(there) // len(given)
        for member, claimed in sorted(rightful.items()):
            had = claimed & there
            kept = had & given.get(member, frozenset())
            self.compared = (self.compared or 0) + 1
            if member in given and len(kept) < min(len(had), share):
                self._report(event, member, had, kept, share)

    def _report(
        self, event: AssignmentComputed, member: str, had: frozenset[str], kept: frozenset[str], share: int
    ) -> None:
        self.contradiction(
            f"{member} had {len(had)} partitions and keeps {len(kept)} of them, and its share is {share}",
            ("every member wants the same topics;", None),
            (f"{member} claimed {', '.join(sorted(had))}, and is left {', '.join(sorted(kept)) or 'none'} by "
             f"{event.protocol} at {STEP}, although {share} partitions are its share: contradiction.", event),
        )  # fmt: skip


def _rightful(claimed: dict[str, tuple[str, ...]], generations: dict[str, int], last: int) -> dict[str, frozenset[str]]:
    """What each member alone claims of the generation before (KIP-792)."""
    claims = Counter(one for each in claimed.values() for one in each)
    if any(each and generations.get(member, -1) > last for member, each in claimed.items()):
        return {}
    return {
        member: frozenset(one for one in each if claims[one] == 1)
        for member, each in claimed.items()
        if each and generations.get(member, -1) == last
    }


_PREMISES: Final = (
    "the run is simulated: every member is recorded, with the topics that it wants",
    "all members have wanted the same topics since the run began, and none names a rack",
)

SharesAreOfOneSize: Final = Invariant(
    name="shares_are_of_one_size",
    family="agreement",
    claim="where all members want the same topics, no member gets two partitions more than another: of one topic with "
    "the range assignor, of all topics with roundrobin and sticky",
    source="RangeAssignor, RoundRobinAssignor, AbstractStickyAssignor (constrained)",
    premises=_PREMISES,
    exempted_by=(MemberStarted, SubscriptionChanged),
    violation=SharesAreOfOneSizeViolated,
    fold=_OneSize,
)
"""Where all members want the same topics, none gets two partitions more than another.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", topics=("t",))
    AssignmentComputed(member="m0", generation=1, protocol="sticky", assignments=(("a", ("t-0", "t-1")), ("b", ())))
"""

StickyMembersKeepTheirShare: Final = Invariant(
    name="sticky_members_keep_their_share",
    family="agreement",
    claim="where all members want the same topics, a sticky assignor leaves each member the partitions that it alone "
    "claims of the generation before, or as many of them as there are for each member",
    source="KIP-54, KIP-429, KIP-792; AbstractStickyAssignor.constrainedAssign",
    premises=(
        *_PREMISES,
        "a coordinator that lost its log counts generations anew: from then on they do not say which claim is the last",
    ),
    exempted_by=(MemberStarted, SubscriptionChanged, TopicsDescribed),
    violation=StickyMembersKeepTheirShareViolated,
    fold=_Keeps,
)
"""A sticky assignor takes from a member only what it has beyond its share.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", topics=("t",))
    AssignmentComputed(member="m0", generation=1, protocol="sticky", assignments=(("a", ("t-0",)), ("b", ("t-1",))))
    AssignmentCompleted(member="m0", generation=1, member_id="a", owned=("t-0",))
    AssignmentCompleted(member="m1", generation=1, member_id="b", owned=("t-1",))
    AssignmentComputed(member="m0", generation=2, protocol="sticky", assignments=(("a", ("t-1",)), ("b", ("t-0",))))
"""

CLAIMS: Final = (SharesAreOfOneSize, StickyMembersKeepTheirShare)
"""In the order in which reports name them."""
