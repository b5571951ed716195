"""``cooperative-sticky``: sticky for members that keep their partitions while they join (KIP-429).

A partition that changes hands is given to no member in the round that takes it away: its old owner sees it missing,
revokes it and joins again, and the next round gives it to the new owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rebalance_check.impl.assignors.assignor import Assignments, GroupSubscription, Racks
from rebalance_check.impl.assignors.sticky import StickyFamily
from rebalance_check.impl.assignors.sticky_owned import Claim
from rebalance_check.impl.protocol.consumer_protocol import Assignment, Subscription
from rebalance_check.impl.protocol.sticky_user_data import read_cooperative, write_cooperative
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.ids import NO_GENERATION


class CooperativeStickyAssignor(StickyFamily):
    """Claims are the owned partitions of the subscription, in the generation that it carries (KIP-792).

    Withholding depends on the claims only, so it is right under an EAGER leader, too.
    """

    name = "cooperative-sticky"
    protocols: ClassVar[frozenset[RebalanceProtocol]] = frozenset(
        {RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER}
    )

    def __init__(self) -> None:
        self._generation = NO_GENERATION

    def claim(self, subscription: Subscription) -> Claim:
        """The generation of the subscription wins; clients before v2 carry one in the user data."""
        generation = subscription.generation
        if generation is None:
            generation = read_cooperative(subscription.user_data)
        return Claim(subscription.owned, NO_GENERATION if generation is None else generation)

    def subscription_user_data(self, topics: Sequence[str]) -> bytes | None:  # noqa: ARG002 - part of the interface
        """The generation of the last assignment, -1 before the first."""
        return write_cooperative(self._generation)

    def assign(
        self,
        partitions_per_topic: Mapping[str, int],
        subscriptions: GroupSubscription,
        racks: Racks | None = None,
    ) -> Assignments:
        """Balanced and sticky, minus partitions that their old owners may still hold."""
        assigned, withheld = self._assign(partitions_per_topic, subscriptions, racks)
        return {member: tuple(sorted(tp for tp in given if tp not in withheld)) for member, given in assigned.items()}

    def on_assignment(self, assignment: Assignment, generation: int) -> None:  # noqa: ARG002 - interface
        """Remember the generation."""
        self._generation = generation
