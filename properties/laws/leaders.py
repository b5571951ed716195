"""The assignments that leaders send: one for each member, each partition once, none before its owner gave it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import AssignmentComputed, RequestObserved
from rebalance_check.model.vocabulary.ids import NO_GENERATION, topic_of
from rebalance_check.properties.engines import Excused, Finding, Findings, form
from rebalance_check.properties.engines.rules import Reason, Rules
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.laws.asking import of_clients, verdict
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.client import Client
from rebalance_check.properties.views.clients import Clients
from rebalance_check.properties.views.errors import CONSUMER, COOPERATIVE, EAGER
from rebalance_check.properties.views.rounds import Round

FAMILY: Final = "assignment"

_ASSIGNORS: Final = EAGER | {COOPERATIVE}
_LISTED: Final = "what the others offer is known from their JoinGroups, where these passed the recorder"

Compare: TypeAlias = Callable[[Client, Round, RequestObserved, Clients], Findings]
"""Compares a SyncGroup with the reply to the JoinGroup before it."""


def _syncs(compare: Compare) -> Rules:
    """Each SyncGroup of a client that knows who leads the generation."""

    def rule(sent: RequestObserved, clients: Clients) -> Findings:
        client = clients.client
        round_ = client.round if client is not None and sent.api == Api.SYNC_GROUP else None
        if client is None or round_ is None or round_.generation != sent.request_generation:
            return None
        return compare(client, round_, sent, clients)

    return {RequestObserved: rule}


def _assignments(compare: Compare) -> Rules:
    """Each SyncGroup of a leader by the reply, that must not skip the assignment."""

    def of_leader(client: Client, round_: Round, sent: RequestObserved, clients: Clients) -> Findings:
        joined = round_.joined
        leads = joined.leader == joined.assigned_member_id and bool(joined.members) and not joined.skip_assignment
        return compare(client, round_, sent, clients) if leads and round_.join.protocol_type == CONSUMER else None

    return _syncs(of_leader)


def _joins(round_: Round, clients: Clients) -> dict[str, RequestObserved]:
    """The JoinGroups of the members that the leader was listed, as far as they passed the recorder."""
    listed = dict(round_.joined.members)
    return {member: join for member, join in clients.joins_of(round_.generation).items() if member in listed}


def _to_its_members(client: Client, round_: Round, sent: RequestObserved, clients: Clients) -> Findings:
    """All members that the reply lists, no others, and nothing that a member does not subscribe to."""
    listed, given = dict(round_.joined.members), dict(sent.assignments)
    unknown, left_out = sorted(set(given) - set(listed)), sorted(set(listed) - set(given))
    if unknown:
        fault = f"{client.name} assigns to {unknown[0]}, which is no member"
    elif left_out:
        fault = f"{client.name} leaves {_members(left_out)} without an assignment"
    else:
        fault = _unwanted(client, round_, given, clients)
    reason = f"{client.name} was listed the members {', '.join(sorted(listed))} at {STEP};"
    return verdict(fault, (reason, round_.joined), at=sent)


def _members(ids: list[str]) -> str:
    return f"the member {ids[0]}" if len(ids) == 1 else f"the members {', '.join(ids)}"


def _unwanted(client: Client, round_: Round, given: dict[str, tuple[str, ...]], clients: Clients) -> str:
    if round_.joined.protocol not in _ASSIGNORS:
        return ""
    for member, join in sorted(_joins(round_, clients).items()):
        for partition in given[member]:
            if topic_of(partition) not in join.topics:
                return f"{client.name} assigns {partition} to {member}, which does not subscribe to its topic"
    return ""


def _once(client: Client, round_: Round, sent: RequestObserved, _clients: Clients) -> Findings:
    """A partition stands in one assignment, and there once."""
    return _disjoint(client.name, round_.generation, sent)


def _computed_once(event: AssignmentComputed, _clients: Clients) -> Findings:
    """The same in the record of a leader."""
    return _disjoint(event.member, event.generation, event)


def _disjoint(leader: str, generation: int, event: AssignmentComputed | RequestObserved) -> Finding:
    counts = Counter(thing for _, things in event.assignments for thing in things)
    twice = sorted(thing for thing, count in counts.items() if count > 1)
    owners = [member for member, things in event.assignments if twice and twice[0] in things]
    return verdict(
        f"{leader} assigns {twice[0]} to {' and '.join(owners)} in generation {generation}" if twice else "", at=event
    )


def _all(client: Client, round_: Round, sent: RequestObserved, clients: Clients) -> Findings:
    """Of the partitions that its process was listed last, a cooperative leader may withhold those that others claim."""
    joins = _joins(round_, clients)
    if (
        round_.joined.protocol not in _ASSIGNORS
        or not client.process.is_known
        or len(joins) < len(round_.joined.members)
    ):
        return None
    if client.since.metadata is not None:
        return Excused("its metadata changed since its JoinGroup")
    wanted = {topic for join in joins.values() for topic in join.topics}
    listed = {one for topic in wanted for one in client.process.partitions.get(topic, ())}
    given = {partition for _, partitions in sent.assignments for partition in partitions}
    claimed = {partition for join in joins.values() for partition in join.owned}
    withheld = claimed if round_.joined.protocol == COOPERATIVE else set()
    left = sorted(listed - given - withheld)
    if not listed:
        return None
    return verdict(
        f"{client.name} assigns {left[0]} to no member" if left else "",
        (f"{client.name} leads generation {round_.generation} since {STEP}, and members want the topic;",
         round_.joined),
        at=sent,
    )  # fmt: skip


def _handed_over(client: Client, round_: Round, sent: RequestObserved, clients: Clients) -> Findings:
    """Of members that claim a partition, only the claims of the latest generation count."""
    if round_.joined.protocol != COOPERATIVE:
        return None
    joins = _joins(round_, clients)
    latest = max((join.owned_generation for join in joins.values()), default=NO_GENERATION)
    claimants: dict[str, list[str]] = {}
    for member, join in sorted(joins.items()):
        for partition in join.owned if join.owned_generation == latest else ():
            claimants.setdefault(partition, []).append(member)
    fault, claim = "", ""
    for member, partitions in sent.assignments:
        for partition in partitions:
            owners = claimants.get(partition, [])
            if len(owners) == 1 and owners[0] != member:
                fault, claim = f"{client.name} gives {partition} to {member}, which {owners[0]} claims", owners[0]
    reasons: list[Reason] = (
        [(f"{claim} joined generation {round_.generation} at {STEP} and claimed it;", joins[claim])] if claim else []
    )
    return verdict(fault, *reasons, at=sent)


def _nothing(client: Client, round_: Round, sent: RequestObserved, _clients: Clients) -> Findings:
    """Only the leader assigns, unless the group is Stable, and has its assignment."""
    joined = round_.joined
    leads = joined.leader == joined.assigned_member_id
    if leads and not joined.skip_assignment:
        return None
    return verdict(
        f"{client.name} sends assignments, and {'had to skip them' if leads else 'does not lead'}"
        if sent.assignments
        else "",
        (f"{client.name} joined as {joined.assigned_member_id}, and {joined.leader or 'no member'} leads at {STEP};",
         joined),
        at=sent,
    )  # fmt: skip


AssignmentIsDisjoint: Final = Invariant(
    name="assignment_is_disjoint",
    family=FAMILY,
    claim="a leader assigns each partition, connector or task to at most one member, and once",
    source="ConsumerPartitionAssignor.assign; ConnectAssignor.performAssignment",
    premises=("the leader lists each member once",),
    relies_on=frozenset({Feature.LEADER}),
    evidence=Evidence.PRESENCE,
    fold=form({**_assignments(_once), AssignmentComputed: _computed_once}, views=(Clients,)),
    breaks="""AssignmentComputed(member="m0", generation=1, assignments=(("a", ("t-0",)), ("b", ("t-0",))))""",
    holds="""AssignmentComputed(member="m0", generation=1, assignments=(("a", ("t-0",)), ("b", ("t-1",))))""",
)

LeaderAssignsItsMembers: Final = of_clients(
    name="wire_leader_assigns_its_members",
    family=FAMILY,
    claim="a leader sends an assignment for each member that it was listed and for no other, and Kafka's assignors "
    "assign to a member only partitions of topics that it subscribes to",
    source="ConsumerCoordinator.onLeaderElected, AbstractPartitionAssignor",
    premises=(_LISTED,),
    fold=form(_assignments(_to_its_members), views=(Clients,)),
    opening="""
        RequestObserved(api="JoinGroup", protocol_type="consumer")
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m", leader="m", members=(("m", ""),))
    """,
    breaks="""
        RequestObserved(api="SyncGroup", member_id="m", request_generation=1, assignments=(("m", ()), ("n", ())))
    """,
    holds="""RequestObserved(api="SyncGroup", member_id="m", request_generation=1, assignments=(("m", ()),))""",
)

LeaderAssignsAllPartitions: Final = of_clients(
    name="wire_leader_assigns_all_partitions",
    family=FAMILY,
    claim="a leader that uses one of Kafka's assignors assigns every partition, which its process was listed, of the "
    "topics that the members subscribe to; cooperative-sticky may withhold what members claim",
    source="AbstractPartitionAssignor.assign, CooperativeStickyAssignor.adjustAssignment",
    premises=(_LISTED, "the metadata of the leader did not change since its JoinGroup"),
    fold=form(_assignments(_all), views=(Clients,)),
    opening="""
        RequestObserved(api="Metadata", topics=("t",))
        ReplyObserved(api="Metadata", partitions=("t-0",))
        RequestObserved(api="JoinGroup", protocol_type="consumer", topics=("t",))
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m", leader="m", members=(("m", ""),),
                      protocol="range")
    """,
    breaks="""RequestObserved(api="SyncGroup", member_id="m", request_generation=1, assignments=(("m", ()),))""",
    holds="""RequestObserved(api="SyncGroup", member_id="m", request_generation=1, assignments=(("m", ("t-0",)),))""",
)

CooperativeHandOver: Final = of_clients(
    name="wire_cooperative_hand_over",
    family=FAMILY,
    claim="a leader that uses cooperative-sticky gives no partition to a member while another one claims it in that "
    "generation",
    source="KIP-429; CooperativeStickyAssignor.adjustAssignment, ConsumerCoordinator.validateCooperativeAssignment",
    premises=(
        _LISTED,
        "of several claims on one partition, and of claims for an older generation (KIP-792), the leader decides",
    ),
    fold=form(_assignments(_handed_over), views=(Clients,)),
    opening="""RequestObserved(api="JoinGroup", protocol_type="consumer")""",
    breaks="""
        ReplyObserved(api="JoinGroup", reply_generation=2, assigned_member_id="m", leader="m",
                      members=(("m", ""), ("n", "")), protocol="cooperative-sticky")
        RequestObserved(connection=2, process="p1", api="JoinGroup", member_id="n", owned=("t-0",))
        ReplyObserved(connection=2, process="p1", api="JoinGroup", reply_generation=2, assigned_member_id="n",
                      leader="m")
        RequestObserved(api="SyncGroup", member_id="m", request_generation=2,
                        assignments=(("m", ("t-0",)), ("n", ())))
    """,
    holds="""
        ReplyObserved(api="JoinGroup", reply_generation=2, assigned_member_id="m", leader="m", members=(("m", ""),),
                      protocol="cooperative-sticky")
        RequestObserved(api="SyncGroup", member_id="m", request_generation=2, assignments=(("m", ("t-0",)),))
    """,
)

SkippedAssignmentIsEmpty: Final = of_clients(
    name="wire_skipped_assignment_is_empty",
    family=FAMILY,
    claim="a member that does not lead, or whose JoinGroup is answered with skipAssignment, sends SyncGroup without "
    "assignments",
    source="KIP-814; AbstractCoordinator.onJoinFollower, onLeaderElected",
    fold=form(_syncs(_nothing), views=(Clients,)),
    opening="""
        RequestObserved(api="JoinGroup")
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m", leader="m", skip_assignment=True)
    """,
    breaks="""RequestObserved(api="SyncGroup", member_id="m", request_generation=1, assignments=(("m", ("t-0",)),))""",
    holds="""RequestObserved(api="SyncGroup", member_id="m", request_generation=1)""",
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
