"""What a leader assigns: to whom, what, and what it withholds."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rebalance_check.model.vocabulary.events import Event, RequestObserved
from rebalance_check.model.vocabulary.ids import NO_GENERATION, topic_of
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.wire.client import Client
from rebalance_check.properties.wire.errors import COOPERATIVE, EAGER
from rebalance_check.properties.wire.leading_fold import AssignmentFold
from rebalance_check.properties.wire.rounds import Round
from rebalance_check.properties.wire.wire_fold import DISTURBANCES, FAMILY, ONE_MEMBER

_ASSIGNORS: Final = EAGER | {COOPERATIVE}


class LeaderAssignsItsMembersViolated(Violation):
    """A leader left a member out, or assigned partitions to one that is no member or does not want them."""


class LeaderAssignsEachPartitionOnceViolated(Violation):
    """A leader assigned one partition to two members."""


class LeaderAssignsAllPartitionsViolated(Violation):
    """A leader left a partition without an owner that members subscribe to."""


class CooperativeHandOverViolated(Violation):
    """A leader gave a partition to one member while another claimed it."""


class _Members(AssignmentFold):
    def compare_assignment(self, client: Client, round_: Round, event: RequestObserved) -> None:
        """All members that the reply lists, no others, and nothing that a member does not subscribe to."""
        listed, given = dict(round_.joined.members), dict(event.assignments)
        unknown, left_out = sorted(set(given) - set(listed)), sorted(set(listed) - set(given))
        fault = ""
        if unknown:
            fault = f"{client.name} assigns to {unknown[0]}, which is no member"
        elif left_out:
            fault = f"{client.name} leaves the member {left_out[0]} without an assignment"
        else:
            fault = self._unwanted(client, round_, given)
        reason = f"{client.name} was listed the members {', '.join(sorted(listed))} at {STEP};"
        self.test(fault, (reason, round_.joined), at=event)

    def _unwanted(self, client: Client, round_: Round, given: dict[str, tuple[str, ...]]) -> str:
        if round_.joined.protocol not in _ASSIGNORS:
            return ""
        for member, join in sorted(self.joins(round_).items()):
            for partition in given[member]:
                if topic_of(partition) not in join.topics:
                    return f"{client.name} assigns {partition} to {member}, which does not subscribe to its topic"
        return ""


class _Once(AssignmentFold):
    def compare_assignment(self, client: Client, round_: Round, event: RequestObserved) -> None:
        """A partition stands in one assignment, and there once."""
        counts = Counter(partition for _, partitions in event.assignments for partition in partitions)
        twice = sorted(partition for partition, count in counts.items() if count > 1)
        owners = [member for member, partitions in event.assignments if twice and twice[0] in partitions]
        self.test(
            f"{client.name} assigns {twice[0]} to {' and '.join(owners)}" if twice else "",
            (f"{client.name} leads generation {round_.generation} since {STEP};", round_.joined),
            at=event,
        )


class _All(AssignmentFold):
    def compare_assignment(self, client: Client, round_: Round, event: RequestObserved) -> None:
        """Of what its process was listed last, a cooperative leader may withhold what other members claim."""
        if round_.joined.protocol not in _ASSIGNORS or not client.process.is_known or client.since.metadata is not None:
            return
        joins = self.joins(round_)
        if len(joins) < len(round_.joined.members):
            return
        wanted = {topic for join in joins.values() for topic in join.topics}
        listed = {p for topic in wanted for p in client.process.partitions.get(topic, ())}
        given = {partition for _, partitions in event.assignments for partition in partitions}
        claimed = {partition for join in joins.values() for partition in join.owned}
        withheld = claimed if round_.joined.protocol == COOPERATIVE else set()
        if listed:
            left = sorted(listed - given - withheld)
            self.test(
                f"{client.name} assigns {left[0]} to no member" if left else "",
                (f"{client.name} leads generation {round_.generation} since {STEP}, and members want the topic;",
                 round_.joined),
                at=event,
            )  # fmt: skip


class _CooperativeLeader(AssignmentFold):
    def compare_assignment(self, client: Client, round_: Round, event: RequestObserved) -> None:
        """Of members that claim a partition, only the claims of the latest generation count."""
        if round_.joined.protocol != COOPERATIVE:
            return
        joins = self.joins(round_)
        latest = max((join.owned_generation for join in joins.values()), default=NO_GENERATION)
        claimants: dict[str, list[str]] = {}
        for member, join in sorted(joins.items()):
            for partition in join.owned if join.owned_generation == latest else ():
                claimants.setdefault(partition, []).append(member)
        fault, claim = "", None
        for member, partitions in event.assignments:
            for partition in partitions:
                owners = claimants.get(partition, [])
                if len(owners) == 1 and owners[0] != member:
                    fault, claim = f"{client.name} gives {partition} to {member}, which {owners[0]} claims", owners[0]
        reasons: list[tuple[str, Event | None]] = (
            [(f"{claim} joined generation {round_.generation} at {STEP} and claimed it;", joins[claim])]
            if claim
            else []
        )
        self.test(fault, *reasons, at=event)


_LISTED: Final = "what the others offer is known from their JoinGroups, where these passed the recorder"

LeaderAssignsItsMembers: Final = Invariant(
    name="wire_leader_assigns_its_members",
    family=FAMILY,
    claim="a leader sends an assignment for each member that it was listed and for no other, and Kafka's assignors "
    "assign to a member only partitions of topics that it subscribes to",
    source="ConsumerCoordinator.onLeaderElected, AbstractPartitionAssignor",
    premises=(ONE_MEMBER, _LISTED),
    exempted_by=DISTURBANCES,
    violation=LeaderAssignsItsMembersViolated,
    fold=_Members,
)
"""A leader assigns to the members that it was listed, to all of them, and only what they subscribe to.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, protocol_type="consumer")
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m",
                  leader="m", members=(("m", ""),))
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=1, assignments=(("m", ()), ("n", ())))
"""

LeaderAssignsEachPartitionOnce: Final = Invariant(
    name="wire_leader_assigns_each_partition_once",
    family=FAMILY,
    claim="in what a leader assigns each partition stands once",
    source="ConsumerPartitionAssignor.assign",
    premises=(ONE_MEMBER,),
    exempted_by=DISTURBANCES,
    violation=LeaderAssignsEachPartitionOnceViolated,
    fold=_Once,
)
"""In what a leader assigns each partition stands once.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, protocol_type="consumer")
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m",
                  leader="m", members=(("m", ""), ("n", "")))
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=1, assignments=(("m", ("t-0",)), ("n", ("t-0",))))
"""

LeaderAssignsAllPartitions: Final = Invariant(
    name="wire_leader_assigns_all_partitions",
    family=FAMILY,
    claim="a leader that uses one of Kafka's assignors assigns every partition, which its process was listed, of the "
    "topics that the members subscribe to; cooperative-sticky may withhold what members claim",
    source="AbstractPartitionAssignor.assign, CooperativeStickyAssignor.adjustAssignment",
    premises=(ONE_MEMBER, _LISTED, "the metadata of the leader did not change since its JoinGroup"),
    exempted_by=DISTURBANCES,
    violation=LeaderAssignsAllPartitionsViolated,
    fold=_All,
)
"""A leader leaves no partition without an owner, but those that their present owners must give up first.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="Metadata", version=12, topics=("t",))
    ReplyObserved(connection=1, process="p0", request=1, api="Metadata", partitions=("t-0",))
    RequestObserved(connection=1, process="p0", request=2, api="JoinGroup", version=9, protocol_type="consumer",
                    topics=("t",))
    ReplyObserved(connection=1, process="p0", request=2, api="JoinGroup", reply_generation=1, assigned_member_id="m",
                  leader="m", members=(("m", ""),), protocol="range")
    RequestObserved(connection=1, process="p0", request=3, api="SyncGroup", version=5, member_id="m",
                    request_generation=1, assignments=(("m", ()),))
"""

CooperativeHandOver: Final = Invariant(
    name="wire_cooperative_hand_over",
    family=FAMILY,
    claim="a leader that uses cooperative-sticky gives no partition to a member while another one claims it in that "
    "generation",
    source="KIP-429; CooperativeStickyAssignor.adjustAssignment, ConsumerCoordinator.validateCooperativeAssignment",
    premises=(
        ONE_MEMBER,
        _LISTED,
        "of several claims on one partition, and of claims for an older generation (KIP-792), the leader decides",
    ),
    exempted_by=DISTURBANCES,
    violation=CooperativeHandOverViolated,
    fold=_CooperativeLeader,
)
"""A cooperative leader gives no partition to a member while another one claims it.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, protocol_type="consumer")
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=2, assigned_member_id="m",
                  leader="m", members=(("m", ""), ("n", "")), protocol="cooperative-sticky")
    RequestObserved(connection=2, process="p1", request=2, api="JoinGroup", version=9, member_id="n", owned=("t-0",))
    ReplyObserved(connection=2, process="p1", request=2, api="JoinGroup", reply_generation=2, assigned_member_id="n",
                  leader="m")
    RequestObserved(connection=1, process="p0", request=3, api="SyncGroup", version=5, member_id="m",
                    request_generation=2, assignments=(("m", ("t-0",)), ("n", ())))
"""

CLAIMS: Final = (
    LeaderAssignsItsMembers,
    LeaderAssignsEachPartitionOnce,
    LeaderAssignsAllPartitions,
    CooperativeHandOver,
)
"""In the order in which reports name them."""
