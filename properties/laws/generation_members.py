"""The members of a generation: they joined it, list its protocol, are led by one of them, and fit the group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    Event,
    GenerationStarted,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    RequestIssued,
    RequestParked,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.engines import CHECKED, Excused, Finding, Findings, broken, broken_step, form, scenario
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.laws.generation import RECORDED
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.coordinator import ACCEPTED, NOT_RECORDED, Incarnations
from rebalance_check.properties.views.scenarios import PREMISES, KnownIds
from rebalance_check.properties.views.steps import FORMED, Step, members_of


def _joined(event: GenerationStarted, incarnations: Incarnations) -> Iterator[Finding]:
    """Dynamic members have joined; static ones may be silent, but not all of them."""
    group = incarnations.current
    if group is None or not incarnations.tells_parked:
        return
    for member in event.members:
        if member in group.joiners:
            yield CHECKED
        elif group.members.get(member, NOT_RECORDED):
            yield Excused("is static, and silent")
        else:
            yield broken(
                f"{member} is in generation {event.generation} and did not join it",
                (f"{member} is a dynamic member, and no JoinGroup of it was waiting when the generation started, "
                 f"at {STEP}: contradiction.", event),
            )  # fmt: skip
    if event.members and not group.joiners.intersection(event.members):
        yield broken(
            f"generation {event.generation} started and no member joined it",
            (f"no JoinGroup was waiting when it started at {STEP}: contradiction.", event),
        )


GenerationHasOnlyJoined: Final = Invariant(
    name="generation_has_only_joined",
    family="generation",
    claim="every dynamic member of a generation was waiting in JoinGroup when it started, and so was at least one",
    source="GroupMetadataManager.completeClassicGroupJoin",
    premises=(
        RECORDED,
        "silent static members stay in the group until their session ends",
        "a waiting JoinGroup that was refused on account of a write counts: its member stays parked",
    ),
    exempted_by=(RequestParked,),
    evidence=Evidence.CONCERNED,
    fold=form({GenerationStarted: _joined}, views=(Incarnations,), needs=((RequestParked,),)),
    breaks="""
        RequestParked(api="JoinGroup", member_id="a")
        MemberAdded(member_id="b")
        GenerationStarted(generation=1, members=("a", "b"), leader="a")
    """,
    holds="""
        MemberAdded(member_id="a")
        RequestParked(api="JoinGroup", member_id="a")
        GenerationStarted(generation=1, members=("a",), leader="a")
    """,
    excuses="""
        MemberAdded(member_id="a")
        MemberAdded(member_id="b", instance_id="i")
        RequestParked(api="JoinGroup", member_id="a")
        GenerationStarted(generation=1, members=("a", "b"), leader="a")
    """,
)


def _all_list_it(event: GenerationStarted, incarnations: Incarnations) -> Iterator[Finding]:
    group = incarnations.current
    if group is None or not event.protocol:
        return
    for member in event.members:
        if listed := group.listed.get(member, ()):
            yield _listed(member, listed, event.protocol, event)


def _notified_lists_it(event: JoinGroupReplied, _incarnations: Incarnations) -> Findings:
    if event.error != ACCEPTED or not event.protocol or not event.protocols:
        return None
    return _listed(event.assigned_member_id, event.protocols, event.protocol, event)


def _listed(member: str, listed: tuple[str, ...], protocol: str, event: Event) -> Finding:
    if protocol in listed:
        return CHECKED
    return broken(
        f"{member} is in a generation that runs {protocol}, which it does not list",
        (f"{member} lists {', '.join(listed)}; at {STEP} its generation runs {protocol}: contradiction.", event),
    )


SelectedProtocolIsListedByAll: Final = Invariant(
    name="selected_protocol_is_listed_by_all",
    family="generation",
    claim="every member of a generation lists the protocol that the generation runs",
    source="ClassicGroup.selectProtocol, supportsProtocols",
    premises=(RECORDED, "a loaded member lists the one protocol of its record, until it joins again"),
    evidence=Evidence.CONCERNED,
    fold=form(
        {GenerationStarted: _all_list_it, JoinGroupReplied: _notified_lists_it},
        views=(Incarnations,),
    ),
    opening="""RequestParked(api="JoinGroup", member_id="a", protocols=("range",))""",
    breaks="""GenerationStarted(generation=1, members=("a",), leader="a", protocol="sticky")""",
    holds="""GenerationStarted(generation=1, members=("a",), leader="a", protocol="range")""",
)


def _generation_has_a_leader(event: GenerationStarted, _incarnations: Incarnations) -> Finding:
    return _has_a_leader(event.members, event.leader, f"generation {event.generation} started", event)


def _loaded_has_a_leader(event: IncarnationStarted, _incarnations: Incarnations) -> Findings:
    if not event.status:
        return None
    return _has_a_leader(event.members, event.leader, f"incarnation {event.incarnation} began", event)


def _has_a_leader(members: tuple[str, ...], leader: str, when: str, event: Event) -> Finding:
    if bool(members) == bool(leader) and (not leader or leader in members):
        return CHECKED
    led = f"led by {leader}" if leader else "without a leader"
    group = f"the members {', '.join(members)}" if members else "no member"
    return broken(f"a group with {group} is {led}", (f"{when} at {STEP} with {group}, {led}: contradiction.", event))


def _named_leader_is_member(event: JoinGroupReplied, incarnations: Incarnations) -> Findings:
    """The leader that a reply names is a member, or was until its successor replaced it."""
    group = incarnations.current
    if event.error != ACCEPTED or not event.leader or group is None or not group.is_known:
        return None
    if group.heir_of(event.leader) in group.members:
        return CHECKED
    return broken(
        f"{event.assigned_member_id} learns that {event.leader} leads, which is no member",
        (f"{event.leader} is no member at the reply, at {STEP}: contradiction.", event),
    )


LeaderIsMember: Final = Invariant(
    name="leader_is_member",
    family="generation",
    claim="a group has a leader exactly when it has members, and the leader is one of them",
    source="ClassicGroup.add, remove, maybeElectNewJoinedLeader",
    premises=(
        "the history holds the coordinator's events; an incarnation is known from its start, or its next generation",
        "before JoinGroup v9 a static member that comes back learns the leader's id from before its replacement",
    ),
    relies_on=frozenset({Feature.LEADER}),
    exempted_by=(IncarnationStarted, MemberAdded),
    evidence=Evidence.CONCERNED,
    fold=form(
        {
            GenerationStarted: _generation_has_a_leader,
            IncarnationStarted: _loaded_has_a_leader,
            JoinGroupReplied: _named_leader_is_member,
        },
        views=(Incarnations,),
    ),
    breaks="""GenerationStarted(generation=1, members=("a",), leader="b")""",
    holds="""GenerationStarted(generation=1, members=("a",), leader="a")""",
)


def _ids_were_learned(step: Step, known: KnownIds) -> Findings:
    """Once no JoinGroup waits, every member of a formed group has an id that was in a reply."""
    if step.after.status not in FORMED or any(sent.api == Api.JOIN_GROUP for sent in step.waiting.values()):
        return None
    replied = {reply.event.assigned_member_id for reply in step.replies_to(Api.JOIN_GROUP)}
    unknown = members_of(step.after) - known.replied - replied
    if not unknown:
        return CHECKED
    return broken_step(step, f"generation {step.after.generation} has {min(unknown)}, an id that no client learned")


MembersAreKnown: Final = Invariant(
    name="members_are_known",
    family="generation",
    claim="every member of a completed generation has an id that a client learned",
    source="KIP-394: a member that is no client's holds up every rebalance until its session ends",
    premises=PREMISES,
    evidence=Evidence.CONCERNED,
    exempted_by=(RequestIssued,),
    fold=scenario(_ids_were_learned, views=(KnownIds,)),
    breaks="""
        StepStarted(step="release")
        GroupDescribed(status="Stable", generation=1, members=(("a-1", ""),))
    """,
    holds="""
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup")
        ReplyReceived(assigned_member_id="a-1")
        GroupDescribed(status="Stable", generation=1, members=(("a-1", ""),))
    """,
)


def _fits(step: Step) -> Findings:
    count = len(step.after.members)
    if step.after.status not in FORMED:
        return None
    if count <= step.max_size:
        return CHECKED
    return broken_step(step, f"{count} members are {step.after.status}; group.max.size is {step.max_size}")


GroupFitsMaxSize: Final = Invariant(
    name="group_fits_max_size",
    family="generation",
    claim="a formed group has at most group.max.size members",
    source="KIP-389",
    premises=PREMISES,
    evidence=Evidence.CONCERNED,
    exempted_by=(CoordinatorConfigured,),
    fold=scenario(_fits),
    breaks="""
        CoordinatorConfigured(max_size=1, offsets_retention_ms=60000)
        StepStarted(step="join b")
        GroupDescribed(status="Stable", members=(("a-1", ""), ("b-1", "")))
    """,
    holds="""
        CoordinatorConfigured(max_size=2, offsets_retention_ms=60000)
        StepStarted(step="join b")
        GroupDescribed(status="Stable", members=(("a-1", ""), ("b-1", "")))
    """,
)


def _empty_keeps_its_generation(step: Step) -> Findings:
    """Only a join phase begins a generation; a failover that loses records may go back to an earlier one."""
    is_empty = step.before.status == step.after.status == GroupStatus.EMPTY
    if not is_empty or step.verb in {"join", "failover", "load"}:
        return None
    before, after = step.before.generation, step.after.generation
    if before == after:
        return CHECKED
    return broken_step(step, f"no client joins the Empty group, and it goes from generation {before} to {after}")


GenerationsHaveMembers: Final = Invariant(
    name="generations_have_members",
    family="generation",
    claim="an Empty group that no client joins stays in its generation",
    source="ClassicGroup.initNextGeneration: a join phase needs a member that joins",
    premises=PREMISES,
    evidence=Evidence.CONCERNED,
    fold=scenario(_empty_keeps_its_generation),
    opening="""
        GroupDescribed(status="Empty", generation=1)
        StepStarted(step="advance 3000")
    """,
    breaks="""GroupDescribed(status="Empty", generation=2)""",
    holds="""GroupDescribed(status="Empty", generation=1)""",
)


LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
