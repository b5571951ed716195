"""What a consumer wants is recorded whenever its application changes it, and when a pattern finds other topics."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    MemberEvent,
    MemberRested,
    MemberStarted,
    SubscriptionChanged,
)
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import DEPARTED, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class WantedTopicsAreRecordedViolated(Violation):
    """A consumer wants, or takes partitions of, topics that its record does not say it wants, or the reverse."""


class _Wishes(SimulatedFold):
    """Per process: what it recorded last that it wants."""

    bookkeeping = frozenset({MemberStarted, SubscriptionChanged})
    needs = ((MemberStarted,), (AssignmentCompleted, MemberRested))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_wish,
            SubscriptionChanged: self.on_wish,
            AssignmentCompleted: self.on_completed,
            MemberRested: self.on_rested,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._wishes: Recent[str, MemberStarted | SubscriptionChanged] = Recent(DEPARTED)

    def on_wish(self, event: MemberStarted | SubscriptionChanged) -> None:
        """It wants this from here on."""
        self._wishes[event.member] = event

    def on_completed(self, event: AssignmentCompleted) -> None:
        """It takes over partitions of topics that it wants, and of no others."""
        self._judge(event, {topic_of(partition) for partition in event.owned}, "takes partitions of")

    def on_rested(self, event: MemberRested) -> None:
        """It says what it wants."""
        wish = self._wishes.get(event.member)
        self._judge(event, set(event.topics), "wants")
        if wish is not None and self._is_consumer(wish) and not set(wish.topics) <= set(event.topics):
            self._accuse(wish, event, f"wants {', '.join(event.topics) or 'nothing'}")

    def _judge(self, event: MemberEvent, topics: set[str], does: str) -> None:
        wish = self._wishes.get(event.member)
        if wish is None or not self._is_consumer(wish):
            return
        self.compared = (self.compared or 0) + 1
        if not topics <= set(wish.topics):
            self._accuse(wish, event, f"{does} {', '.join(sorted(topics))}")

    def _is_consumer(self, wish: MemberStarted | SubscriptionChanged) -> bool:
        """Whether the process is known to want topics at all, as no worker and no candidate of an election does."""
        return self.run.is_recorded and (isinstance(wish, SubscriptionChanged) or bool(wish.topics))

    def _accuse(self, wish: MemberStarted | SubscriptionChanged, event: MemberEvent, does: str) -> None:
        wanted = ", ".join(wish.topics) or "nothing"
        self.contradiction(
            f"{event.member} {does}, and recorded that it wants {wanted}",
            (f"{event.member} wants {wanted} as of {STEP}, and recorded no other wish since;", wish),
            (f"it {does} at {STEP}: contradiction.", event),
        )


WantedTopicsAreRecorded: Final = Invariant(
    name="wanted_topics_are_recorded",
    family=FAMILY,
    claim="a consumer whose group is looked at wants the topics that it recorded last, and one that takes over an "
    "assignment recorded before that it wants all topics in it",
    source="SubscriptionState.subscribe, changeSubscription; ConsumerCoordinator.onJoinComplete "
    "(maybeUpdateJoinedSubscription)",
    premises=(RECORDED, "an assignment with a topic that its member no longer wants is not taken over"),
    exempted_by=(MemberStarted, SubscriptionChanged),
    violation=WantedTopicsAreRecordedViolated,
    fold=_Wishes,
)
"""What a consumer wants decides whether partitions lack an owner, and excuses that it joins again.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", topics=("t",))
    AssignmentCompleted(member="m0", generation=1, owned=("u-0",))
"""

CLAIMS: Final = (WantedTopicsAreRecorded,)
"""In the order in which reports name them."""
