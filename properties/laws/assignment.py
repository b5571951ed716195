"""Assignments: what leaders compute, and what of it reaches the members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.events import AssignmentComputed, SyncGroupReplied
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.engines import CHECKED, Fact, Finding, agreement, broken, form
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.laws.generation import RECORDED
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.coordinator import ACCEPTED

# ---------------------------------------------------------------------------------------------- what is computed


def _wanted(event: AssignmentComputed) -> Iterator[Finding]:
    wanted = dict(event.wanted_topics)
    for member, given in event.assignments:
        if member not in wanted:
            continue
        unwanted = ", ".join(sorted(one for one in given if topic_of(one) not in wanted[member]))
        if not unwanted:
            yield CHECKED
            continue
        topics = ", ".join(wanted[member]) or "nothing"
        yield broken(
            f"{member} is assigned {unwanted}, and asked for {topics}",
            (f"{event.member} computed the assignment at {STEP}: it assigns {unwanted} to {member}, whose subscription "
             f"lists {topics}: contradiction.", event),
        )  # fmt: skip


AssignedTopicsAreWanted: Final = Invariant(
    name="assigned_topics_are_wanted",
    family="assignment",
    claim="a leader assigns to each member only partitions of topics that the subscription of this member lists",
    source="ConsumerPartitionAssignor.assign; AbstractPartitionAssignor.consumersPerTopic; "
    "ConsumerCoordinator.onJoinComplete (received assignment does not match the current subscription)",
    premises=("the leader's record has the subscriptions that its JoinGroup reply listed (wanted_topics)",),
    evidence=Evidence.PRESENCE,
    fold=form({AssignmentComputed: _wanted}),
    breaks="""
        AssignmentComputed(member="m0", generation=1, wanted_topics=(("a", ("t",)),), assignments=(("a", ("u-0",)),))
    """,
    holds="""
        AssignmentComputed(member="m0", generation=1, wanted_topics=(("a", ("t",)),), assignments=(("a", ("t-0",)),))
    """,
)

# ---------------------------------------------------------------------------------------------- what is handed out


def _given(event: SyncGroupReplied) -> Fact | None:
    if event.error != ACCEPTED or event.incarnation < 0:
        return None
    says = f"its SyncGroup was answered {event.assignment or 'without bytes'} at {STEP}"
    key = (event.incarnation, event.generation, event.member_id)
    return Fact(key, event.assignment, f"{event.source} {event.request}", says, event)


def _two_assignments(first: Fact, _other: Fact) -> str:
    event = first.event
    assert isinstance(event, SyncGroupReplied)
    return f"{event.member_id} is given two different assignments in generation {event.generation}"


OneAssignmentPerGeneration: Final = Invariant(
    name="one_assignment_per_generation",
    family="assignment",
    claim="within a generation of an incarnation, a member is always given the same assignment",
    source="GroupMetadataManager.setAndPropagateAssignment",
    premises=(
        RECORDED,
        "after a failover members may read another one, if the leader synced twice before the first was committed",
    ),
    relies_on=frozenset({Feature.GENERATIONS}),
    evidence=Evidence.PRESENCE,
    fold=agreement({SyncGroupReplied: _given}, headline=_two_assignments),
    opening="""SyncGroupReplied(generation=1, member_id="a", request_generation=1, assignment="t-0")""",
    breaks="""SyncGroupReplied(generation=1, member_id="a", request_generation=1, assignment="t-1")""",
    holds="""SyncGroupReplied(generation=1, member_id="a", request_generation=1, assignment="t-0")""",
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
