"""Commits of partitions that a member has lost or revoked, by its own record."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.engines import (
    CHECKED,
    Findings,
    broken,
    form,
)
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.members import Members


def _not_lost(event: OffsetCommitted, members: Members) -> Findings:
    """Accepted in the generation joined after the loss: so it was sent after the loss."""
    members.up_to_date()
    member = members.of(event.member)
    if event.error != "NONE" or not _spoke_for(member.resumed, event.generation):
        return None
    lost = member.lost.get(event.partition)
    if lost is None:
        return CHECKED
    return broken(
        f"{event.member} committed {event.partition} in generation {event.generation} after it was lost",
        (f"{event.member} lost {event.partition} at {STEP}.", lost),
        (f"it joined generation {event.generation} at {STEP} and was not assigned it again.", member.resumed),
        (f"its commit in that generation was accepted at {STEP}: contradiction.", event),
    )


def _spoke_for(event: Event | None, generation: int) -> bool:
    return event is not None and getattr(event, "generation", NO_GENERATION) == generation


LostIsNotCommitted: Final = Invariant(
    name="lost_is_not_committed",
    family="members",
    claim="a member does not commit a partition after it lost it, until it is assigned again",
    source="ConsumerRebalanceListener.onPartitionsLost; KIP-429",
    premises=(
        "a commit is known to be sent after the loss when it is accepted in a generation that was joined after it",
        "the member commits through its group; a commit by an administrator is not recorded as OffsetCommitted",
    ),
    relies_on=frozenset({Feature.GENERATIONS}),
    exempted_by=(AssignmentCompleted, MemberStarted, PartitionsAssigned),
    evidence=Evidence.CONCERNED,
    fold=form(
        {OffsetCommitted: _not_lost},
        views=(Members,),
        needs=((PartitionsLost,), (MemberJoined, PartitionsAssigned, AssignmentCompleted)),
    ),
    breaks="""
        PartitionsLost(member="m0", generation=-1, partitions=("t-0",))
        MemberJoined(member="m0", generation=3)
        OffsetCommitted(member="m0", generation=3, partition="t-0", offset=5, error="NONE")
    """,
    holds="""
        PartitionsLost(member="m0", generation=-1, partitions=("t-0",))
        MemberJoined(member="m0", generation=3)
        PartitionsAssigned(member="m0", generation=3, partitions=("t-0",))
        OffsetCommitted(member="m0", generation=3, partition="t-0", offset=5, error="NONE")
    """,
)


def _not_revoked(event: OffsetCommitted, members: Members) -> Findings:
    """A commit for a generation that was joined after the revocation is a commit of a partition that is gone."""
    members.up_to_date()
    member = members.of(event.member)
    joined = member.joined
    if joined is None or joined.generation != event.generation or event.error != "NONE":
        return None
    revoked = member.revoked.get(event.partition)
    if revoked is None or member.gone_before_join.get(event.partition) is not revoked:
        return CHECKED
    return broken(
        f"{event.member} commits {event.partition}, which it revoked before generation {event.generation}",
        (f"{event.member} revoked {event.partition} at {STEP};", revoked),
        (f"it joined generation {event.generation} at {STEP}, and was not assigned it since;", joined),
        (f"yet it commits {event.partition} in that generation at {STEP}: contradiction.", event),
    )


RevokedIsNotCommitted: Final = Invariant(
    name="revoked_is_not_committed",
    family="members",
    claim="a member does not commit a partition that it revoked before it joined its generation, until it is assigned "
    "again",
    source="ConsumerRebalanceListener.onPartitionsRevoked; ConsumerCoordinator (SubscriptionState.allConsumed)",
    premises=(
        "a commit is known to be sent after the revocation when it is accepted in a generation that was joined later",
        "the member commits partitions that it consumed; its application commits no others",
    ),
    exempted_by=(AssignmentCompleted, MemberCrashed, MemberLeft, MemberStarted, PartitionsAssigned),
    evidence=Evidence.CONCERNED,
    fold=form({OffsetCommitted: _not_revoked}, views=(Members,), needs=((PartitionsRevoked,), (MemberJoined,))),
    breaks="""
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
        MemberJoined(member="m0", generation=2)
        OffsetCommitted(member="m0", generation=2, partition="t-0", offset=5, error="NONE")
    """,
    holds="""
        OffsetCommitted(member="m0", generation=1, partition="t-1", offset=5, error="NONE")
        PartitionsRevoked(member="m0", generation=1, partitions=("t-1",))
        MemberJoined(member="m0", generation=2)
        OffsetCommitted(member="m0", generation=2, partition="t-0", offset=5, error="NONE")
    """,
)
