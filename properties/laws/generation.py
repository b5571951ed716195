"""Generations: their numbers, and the leader, the protocol and the members that each has."""

from __future__ import annotations

from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    AssignmentCompleted,
    AssignmentComputed,
    CoordinatorEvent,
    GenerationEvent,
    GenerationStarted,
    GroupMetadataAppended,
    GroupStatusChanged,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    MemberStarted,
    PartitionsAssigned,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.engines import Excused, Fact, Step, agreement, order
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Evidence, Invariant, Memory, declared
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.coordinator import ACCEPTED, Incarnations
from rebalance_check.properties.views.holdings import Instances, Rounds
from rebalance_check.properties.views.recent import GENERATIONS

RECORDED: Final = "the history holds the coordinator's events, with the requests it keeps and its answers"

# ---------------------------------------------------------------------------------------------- the numbers

_JOINED: Final = (GroupStatus.COMPLETING_REBALANCE, GroupStatus.EMPTY)
"""The statuses in which a join phase ends, unless the group goes away."""


class _Sequence(NamedTuple):
    """A sequence of numbers: its kind, and the incarnation or the member that it belongs to."""

    kind: str
    of: int | str = ""


class _Record(NamedTuple):
    """A record of the log."""

    offset: int
    generation: int


class _Spoken(NamedTuple):
    """A generation that a member spoke for, and under which id."""

    generation: int
    member_id: str
    incarnation: int


def _incarnation(event: IncarnationStarted, _rounds: Rounds) -> list[Step]:
    says = f"incarnation {event.incarnation} started at {STEP}"
    return [Step(_Sequence("incarnations"), event.incarnation, says, event), _at_coordinator(event)]


def _at_coordinator(event: CoordinatorEvent) -> Step:
    says = f"the coordinator was in generation {event.generation} at {STEP}"
    return Step(_Sequence("coordinator", event.incarnation), event.generation, says, event)


def _coordinator(event: MemberAdded | MemberRemoved, _rounds: Rounds) -> Step:
    return _at_coordinator(event)


def _generation(event: GenerationStarted, _rounds: Rounds) -> list[Step]:
    says = f"generation {event.generation} started at {STEP}"
    started = Step(_Sequence("generations", event.incarnation), event.generation, says, event)
    return [started, _at_coordinator(event)]


def _phase(event: GroupStatusChanged, _rounds: Rounds) -> list[Step]:
    """Each join phase ends in a generation of its own, also one that ends with no member left."""
    steps = [_at_coordinator(event)]
    if event.from_status == GroupStatus.PREPARING_REBALANCE and event.to_status in _JOINED:
        says = f"a join phase ended in generation {event.generation} at {STEP}"
        steps.append(Step(_Sequence("phases", event.incarnation), event.generation, says, event))
    return steps


def _appended(event: GroupMetadataAppended, _rounds: Rounds) -> list[Step]:
    record, says = _Record(event.offset, event.generation), f"generation {event.generation} was appended at {STEP}"
    by = f"incarnation {event.incarnation} appended at {STEP}"
    return [
        Step(_Sequence("log", event.incarnation), record, says, event),
        Step(_Sequence("writers"), event.incarnation, by, event),
    ]


def _spoken(event: GenerationEvent, _rounds: Rounds) -> Step | None:
    if event.generation == NO_GENERATION or not event.member_id:
        return None
    spoken = _Spoken(event.generation, event.member_id, event.incarnation)
    says = f"{event.member} was in generation {event.generation} at {STEP}"
    return Step(_Sequence("member", event.member), spoken, says, event)


def _gone(event: MemberEvent, _rounds: Rounds) -> _Sequence:
    """The process ended; it comes back under another member id."""
    return _Sequence("member", event.member)


def _cannot_follow(last: Step, step: Step, rounds: Rounds) -> str | Excused:
    assert isinstance(step.key, _Sequence)
    match step.key.kind:
        case "incarnations":
            if step.value > last.value:
                return ""
            how = "twice" if step.value == last.value else f"after {last.value}"
            return f"incarnation {step.value} started {how}"
        case "generations":
            same = step.value == last.value
            return f"generation {step.value} started twice in incarnation {step.key.of}" if same else ""
        case "phases":
            return f"two join phases ended in generation {step.value}" if step.value == last.value else ""
        case "coordinator":
            if step.value in {last.value, last.value + 1}:
                return ""
            return f"the coordinator went from generation {last.value} to {step.value} in incarnation {step.key.of}"
        case "writers":
            is_later = step.value >= last.value
            return "" if is_later else f"incarnation {step.value} appended behind incarnation {last.value}"
        case "log":
            return _wrong_in_the_log(last.value, step.value)
    return _wrong_at_a_member(last.value, step.value, str(step.key.of), rounds)


def _wrong_in_the_log(last: _Record, record: _Record) -> str:
    if record.offset <= last.offset:
        return f"the log's offset went from {last.offset} to {record.offset}"
    if record.generation < last.generation:
        return f"the log went from generation {last.generation} to {record.generation}"
    return ""


def _wrong_at_a_member(last: _Spoken, spoken: _Spoken, member: str, rounds: Rounds) -> str | Excused:
    if spoken.generation >= last.generation:
        return ""
    if spoken.member_id != last.member_id:
        return Excused("has another member id")
    if spoken.incarnation != last.incarnation:
        return Excused("is in another incarnation")
    if spoken.incarnation == UNKNOWN_INCARNATION and rounds.incarnations > 1:
        return Excused("the coordinator failed over, and the client cannot tell when")
    return f"{member} went from generation {last.generation} to {spoken.generation}"


GenerationMonotonicity: Final = Invariant(
    name="generation_monotonicity",
    family="generation",
    claim="a generation number goes up by one per rebalance of an incarnation, never down at a member or in the log, "
    "where no incarnation appends behind a later one",
    source="ClassicGroup.initNextGeneration; GroupMetadataManager (what is persisted); AbstractCoordinator.Generation",
    premises=(
        "numbers are compared within one incarnation: a failover may hand out anew one that was not persisted",
        "a deleted group starts again at generation 0, in a new incarnation, and a log may lose its tail between two",
        "a client that cannot tell the incarnation is compared with itself under one member id, if the coordinator "
        "did not fail over",
    ),
    relies_on=frozenset({Feature.GENERATIONS}),
    exempted_by=(IncarnationStarted,),
    evidence=Evidence.CONCERNED,
    fold=order(
        {
            IncarnationStarted: _incarnation,
            GenerationStarted: _generation,
            GroupMetadataAppended: _appended,
            GroupStatusChanged: _phase,
            MemberAdded: _coordinator,
            MemberRemoved: _coordinator,
            MemberJoined: _spoken,
            PartitionsAssigned: _spoken,
            AssignmentCompleted: _spoken,
        },
        wrong=_cannot_follow,
        resets={MemberCrashed: _gone, MemberLeft: _gone},
        views=(Rounds,),
    ),
    breaks="""
        GenerationStarted(incarnation=1, generation=2, members=("a",), leader="a")
        GenerationStarted(incarnation=1, generation=2, members=("a", "b"), leader="a")
    """,
    holds="""
        MemberJoined(member="m0", member_id="a", generation=1)
        MemberJoined(member="m0", member_id="a", generation=2)
    """,
    excuses="""
        IncarnationStarted(incarnation=1)
        MemberJoined(member="m0", member_id="a", generation=2)
        IncarnationStarted(incarnation=2, generation=1)
        MemberJoined(member="m0", member_id="a", generation=1)
    """,
)

# ---------------------------------------------------------------------------------------------- leader and protocol


class _Seen(NamedTuple):
    """A generation, by those who see it: its members, or the coordinator's replies."""

    by: str
    incarnation: int
    generation: int


def _seen_by_member(event: MemberJoined | AssignmentComputed, rounds: Rounds) -> _Seen | Excused | None:
    place = rounds.round_of(event)
    if rounds.is_removed(place[0], event.member_id):
        return None  # the reply was on its way when another process took the slot
    if place[0] == UNKNOWN_INCARNATION and rounds.incarnations > 1:
        return Excused("the coordinator failed over, and the client cannot tell when")
    return _Seen("members", *place)


def _leads(
    event: MemberJoined | AssignmentComputed, rounds: Rounds, _instances: Instances, _incarnations: Incarnations
) -> Fact | Excused | None:
    if isinstance(event, MemberJoined) and not event.leader:
        return None
    key = _seen_by_member(event, rounds)
    if not isinstance(key, _Seen):
        return key
    learned = "computed the assignment of" if isinstance(event, AssignmentComputed) else "learned that it leads"
    says = f"{event.member} {learned} generation {event.generation} at {STEP}"
    return Fact(key, event.member, event.member, says, event)


def _leader_in_reply(
    event: JoinGroupReplied, _rounds: Rounds, _instances: Instances, incarnations: Incarnations
) -> list[Fact] | None:
    """A reply names the leader; the member to which it shows the members, or that is to skip the assignment, leads."""
    if event.error != ACCEPTED or incarnations.current is None or not event.leader:
        return None
    key, member = _Seen("replies", event.incarnation, event.reply_generation), event.assigned_member_id
    says = f"{member} learned at {STEP} that {event.leader} leads generation {event.reply_generation}"
    facts = [Fact(key, event.leader, member, says, event)]
    if event.listed_members or event.skip_assignment:
        shown = "was shown the members of" if event.listed_members else "was notified not to assign"
        says = f"{member} {shown} generation {event.reply_generation}, as its leader, at {STEP}"
        facts.append(Fact(key, member, member, says, event))
    return facts


def _succeeds(first: Fact, other: Fact, rounds: Rounds, instances: Instances, incarnations: Incarnations) -> str:
    before = first.event
    if isinstance(before, JoinGroupReplied):
        group = incarnations.current
        same = group is not None and group.heir_of(first.value) == group.heir_of(other.value)
        return "the successor of a static leader leads in its place" if same else ""
    assert isinstance(before, MemberJoined | AssignmentComputed)
    if rounds.is_removed(rounds.round_of(before)[0], before.member_id):
        return "was removed by the coordinator"
    if not rounds.have_coordinator_events and instances.share_an_instance_id(first.observer, other.observer):
        return "took over the instance id"
    return ""


def _two_leaders(first: Fact, other: Fact) -> str:
    assert isinstance(first.key, _Seen)
    return f"{first.value} and {other.value} both lead generation {first.key.generation}"


OneLeader: Final = Invariant(
    name="one_leader",
    family="generation",
    claim="at most one member learns that it leads a generation, and all replies to JoinGroup name the same leader",
    source="GroupMetadataManager.completeClassicGroupJoin; ClassicGroup.maybeElectNewJoinedLeader; KIP-814",
    premises=(
        "a leader whose member id the coordinator removed or replaced does not count (static membership)",
        "of two processes with one instance id the one that joined last leads, if the coordinator does not tell",
        "the successor of a static leader is the same leader; before JoinGroup v9 it learns its predecessor's id",
        "after a failover, clients that cannot tell the incarnation are not compared",
    ),
    relies_on=frozenset({Feature.GENERATIONS, Feature.LEADER}),
    exempted_by=(GenerationStarted, IncarnationStarted, MemberAdded, MemberRemoved, MemberStarted),
    evidence=Evidence.CONCERNED,
    fold=agreement(
        {MemberJoined: _leads, AssignmentComputed: _leads, JoinGroupReplied: _leader_in_reply},
        headline=_two_leaders,
        unless=_succeeds,
        kept=GENERATIONS,
        views=(Rounds, Instances, Incarnations),
        checks_first=True,
    ),
    breaks="""
        MemberJoined(member="m0", generation=1, leader=True)
        MemberJoined(member="m1", generation=1, leader=True)
    """,
    holds="""
        MemberJoined(member="m0", generation=1, leader=True)
        MemberJoined(member="m1", generation=2, leader=True)
    """,
    excuses="""
        MemberStarted(member="m0", group_instance_id="i")
        MemberStarted(member="m1", group_instance_id="i")
        MemberJoined(member="m0", generation=1, leader=True)
        MemberJoined(member="m1", generation=1, leader=True)
    """,
)


def _runs(event: MemberJoined | AssignmentComputed, rounds: Rounds, *_views: Memory) -> Fact | Excused | None:
    if not event.protocol:
        return None
    key = _seen_by_member(event, rounds)
    if not isinstance(key, _Seen):
        return key
    says = f"{event.member} learned the protocol {event.protocol} in generation {event.generation} at {STEP}"
    return Fact(key, event.protocol, event.member, says, event)


def _protocol_in_reply(event: JoinGroupReplied, *_views: Memory) -> Fact | None:
    if event.error != ACCEPTED or event.incarnation < 0 or not event.protocol:
        return None
    key, member = _Seen("replies", event.incarnation, event.reply_generation), event.assigned_member_id
    says = f"{member} learned the protocol {event.protocol} of generation {event.reply_generation} at {STEP}"
    return Fact(key, event.protocol, member, says, event)


def _two_protocols(first: Fact, other: Fact) -> str:
    assert isinstance(first.key, _Seen)
    return (
        f"generation {first.key.generation} runs {first.value} at {first.observer} and {other.value} at "
        f"{other.observer}"
    )


OneProtocol: Final = Invariant(
    name="one_protocol",
    family="generation",
    claim="all members of a generation learn the same protocol",
    source="ClassicGroup.selectProtocol; KIP-559",
    premises=(
        "members that learn no protocol say nothing",
        "a member that the coordinator's events show removed is not compared, nor, after a failover, are clients that "
        "cannot tell the incarnation",
    ),
    relies_on=frozenset({Feature.GENERATIONS}),
    exempted_by=(GenerationStarted, IncarnationStarted, MemberRemoved),
    evidence=Evidence.CONCERNED,
    fold=agreement(
        {MemberJoined: _runs, AssignmentComputed: _runs, JoinGroupReplied: _protocol_in_reply},
        headline=_two_protocols,
        unless=_succeeds,
        kept=GENERATIONS,
        views=(Rounds, Instances, Incarnations),
    ),
    opening="""MemberJoined(member="m0", generation=1, protocol="range")""",
    breaks="""MemberJoined(member="m1", generation=1, protocol="roundrobin")""",
    holds="""MemberJoined(member="m1", generation=1, protocol="range")""",
)


LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
