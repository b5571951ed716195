"""The join phase: who belongs to the generation that it starts, and what they learn."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    RequestParked,
)
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import (
    ACCEPTED,
    NOT_RECORDED,
    IncarnationFold,
)


class GenerationHasOnlyJoinedViolated(Violation):
    """A dynamic member is in a generation that it did not join."""


class SelectedProtocolIsListedByAllViolated(Violation):
    """A generation runs a protocol that one of its members does not list."""


class GroupSizeViolated(Violation):
    """More members joined a generation than ``group.max.size`` allows."""


class MembersGoToTheLeaderViolated(Violation):
    """The members of a generation were shown to a member that does not lead it."""


class JoinAnswersAgreeViolated(Violation):
    """Two answers to JoinGroup name different leaders or protocols for one generation."""


class _OnlyJoined(IncarnationFold):
    needs = ((RequestParked,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {GenerationStarted: self.on_generation})

    def on_generation(self, event: GenerationStarted) -> None:
        """Dynamic members have joined; static ones may be silent, but not all of them."""
        group = self.incarnations.current
        if group is None or not self.incarnations.tells_parked:
            return
        for member in event.members:
            if member not in group.joiners and not group.members.get(member, NOT_RECORDED):
                self.contradiction(
                    f"{member} is in generation {event.generation} and did not join it",
                    (f"{member} is a dynamic member, and no JoinGroup of it was waiting when the generation started, "
                     f"at {STEP}: contradiction.", event),
                )  # fmt: skip
        if event.members and not group.joiners.intersection(event.members):
            self.contradiction(
                f"generation {event.generation} started and nobody joined it",
                (f"no JoinGroup was waiting when it started at {STEP}: contradiction.", event),
            )


class _Common(IncarnationFold):
    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            GenerationStarted: self.on_generation,
            JoinGroupReplied: self.on_replied,
        }
        super().__init__(invariant, handlers)

    def on_generation(self, event: GenerationStarted) -> None:
        """All members list what the vote selected."""
        group = self.incarnations.current
        if group is None or not event.protocol:
            return
        for member in event.members:
            listed = group.listed.get(member, ())
            if listed and event.protocol not in listed:
                self._report(member, listed, event.protocol, event)

    def on_replied(self, event: JoinGroupReplied) -> None:
        """The member that is notified is one of them."""
        if event.error == ACCEPTED and event.protocol and event.protocols and event.protocol not in event.protocols:
            self._report(event.assigned_member_id, event.protocols, event.protocol, event)

    def _report(self, member: str, listed: tuple[str, ...], protocol: str, event: Event) -> None:
        self.contradiction(
            f"{member} is in a generation that runs {protocol}, which it does not list",
            (f"{member} lists {', '.join(listed)}; at {STEP} its generation runs {protocol}: contradiction.", event),
        )


class _Size(IncarnationFold):
    bookkeeping = frozenset({IncarnationStarted})

    needs = (
        (IncarnationStarted,),
        (RequestParked,),
    )

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {IncarnationStarted: self.on_incarnation, GenerationStarted: self.on_generation})
        self._limits: dict[int, int] = {}

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """A group that was larger when it was loaded may stay so."""
        if event.max_size:
            self._limits[event.incarnation] = max(event.max_size, len(event.members))

    def on_generation(self, event: GenerationStarted) -> None:
        """Only those that joined count: silent static members keep their slots beyond the limit."""
        group, limit = self.incarnations.current, self._limits.get(event.incarnation, 0)
        if group is None or not limit:
            return
        joined = sorted(group.joiners.intersection(event.members))
        if len(joined) > limit:
            self.contradiction(
                f"{len(joined)} members joined generation {event.generation}, and {limit} may",
                (f"{', '.join(joined)} joined it, and group.max.size allows {limit}, at {STEP}: contradiction.", event),
            )


class _ToTheLeader(IncarnationFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {JoinGroupReplied: self.on_replied})
        self._shown: dict[int, JoinGroupReplied] = {}

    def on_replied(self, event: JoinGroupReplied) -> None:
        """Who is shown the members leads, and is the only one in its generation."""
        group = self.incarnations.current
        if not event.listed_members or event.error != ACCEPTED or group is None:
            return
        if event.assigned_member_id != event.leader:
            self.contradiction(
                f"{event.assigned_member_id} is shown the members of generation {event.reply_generation}, "
                f"which {event.leader} leads",
                (f"the answer of {STEP} names {event.leader} as the leader and shows the members to "
                 f"{event.assigned_member_id}: contradiction.", event),
            )  # fmt: skip
        first = self._shown.get(group.incarnation)
        self._shown[group.incarnation] = event
        if (
            first is not None
            and first.reply_generation == event.reply_generation
            and group.heir_of(first.assigned_member_id) != event.assigned_member_id
        ):
            self.contradiction(
                f"{first.assigned_member_id} and {event.assigned_member_id} are both shown the members "
                f"of generation {event.reply_generation}",
                (f"{first.assigned_member_id} was shown them at {STEP}.", first),
                (
                    f"{event.assigned_member_id}, which did not take its slot, was shown them at {STEP}: "
                    "contradiction.",
                    event,
                ),
            )


class _Agree(IncarnationFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {JoinGroupReplied: self.on_replied})
        self._first: dict[int, JoinGroupReplied] = {}

    def on_replied(self, event: JoinGroupReplied) -> None:
        """What the first member learned of a generation holds for all."""
        group = self.incarnations.current
        if event.error != ACCEPTED or group is None:
            return
        first = self._first.get(group.incarnation)
        if first is None or first.reply_generation != event.reply_generation:
            self._first[group.incarnation] = event
            return
        if first.protocol and event.protocol and first.protocol != event.protocol:
            self._report(first, event, f"the protocol {first.protocol}", f"the protocol {event.protocol}")
        if first.leader != event.leader and group.heir_of(first.leader) != group.heir_of(event.leader):
            self._report(first, event, f"the leader {first.leader}", f"the leader {event.leader}")

    def _report(self, first: JoinGroupReplied, event: JoinGroupReplied, one: str, other: str) -> None:
        self.contradiction(
            f"generation {event.reply_generation} has {one} for {first.assigned_member_id} "
            f"and {other} for {event.assigned_member_id}",
            (f"{first.assigned_member_id} learned {one} at {STEP}.", first),
            (f"{event.assigned_member_id} learned {other} at {STEP}: contradiction.", event),
        )


_PREMISE: Final = "the history holds the coordinator's events, with the requests it keeps and its answers"


GenerationHasOnlyJoined: Final = Invariant(
    name="generation_has_only_joined",
    family="joining",
    claim="every dynamic member of a generation was waiting in JoinGroup when it started, and so was at least one",
    source="GroupMetadataManager.completeClassicGroupJoin",
    premises=(
        _PREMISE,
        "silent static members stay in the group until their session ends",
        "a waiting JoinGroup that was refused on account of a write counts: its member stays parked",
    ),
    exempted_by=(RequestParked,),
    violation=GenerationHasOnlyJoinedViolated,
    fold=_OnlyJoined,
)
"""Every dynamic member of a generation was waiting in JoinGroup when it started, and at least one member was.

The smallest history that breaks it::

    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a")
    MemberAdded(incarnation=0, generation=0, member_id="b")
    GenerationStarted(incarnation=0, generation=1, members=("a", "b"), leader="a")
"""

SelectedProtocolIsListedByAll: Final = Invariant(
    name="selected_protocol_is_listed_by_all",
    family="joining",
    claim="every member of a generation lists the protocol that the generation runs",
    source="ClassicGroup.selectProtocol, supportsProtocols",
    premises=(_PREMISE, "a loaded member lists the one protocol of its record, until it joins again"),
    violation=SelectedProtocolIsListedByAllViolated,
    fold=_Common,
)
"""Every member of a generation lists the protocol that the generation runs.

The smallest history that breaks it::

    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a", protocols=("range",))
    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a", protocol="sticky")
"""

GroupSize: Final = Invariant(
    name="group_size",
    family="joining",
    claim="no more members join a generation than group.max.size, or than the group had when it was loaded",
    source="GroupMetadataManager.acceptJoiningMember; KIP-389",
    premises=(
        _PREMISE,
        "IncarnationStarted tells the limit",
        "silent static members do not count, and ids that were handed out and not used neither",
    ),
    violation=GroupSizeViolated,
    fold=_Size,
)
"""No more members join a generation than ``group.max.size``, or than the group had when it was loaded.

The smallest history that breaks it::

    IncarnationStarted(incarnation=0, generation=0, status="Empty", max_size=1)
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a")
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=2, member_id="b")
    GenerationStarted(incarnation=0, generation=1, members=("a", "b"), leader="a")
"""

MembersGoToTheLeader: Final = Invariant(
    name="members_go_to_the_leader",
    family="joining",
    claim="the members of a generation are shown to its leader and to no other member",
    source="GroupMetadataManager.completeClassicGroupJoin; KIP-814",
    premises=(_PREMISE, "they may be shown to it again, and to the successor of a static leader (skipAssignment)"),
    relies_on=frozenset({Feature.GENERATIONS, Feature.LEADER}),
    exempted_by=(
        MemberAdded,
        MemberRemoved,
    ),
    violation=MembersGoToTheLeaderViolated,
    fold=_ToTheLeader,
)
"""The members of a generation are shown to its leader and to no other member, in one incarnation.

The smallest history that breaks it::

    JoinGroupReplied(incarnation=0, generation=1, request=1, error="NONE", reply_generation=1, assigned_member_id="b",
                     leader="a", listed_members=("a", "b"))
"""

JoinAnswersAgree: Final = Invariant(
    name="join_answers_agree",
    family="joining",
    claim="all answers to JoinGroup name the same leader and the same protocol for one generation",
    source="ClassicGroup.currentClassicGroupMembers; GroupMetadataManager.completeClassicGroupJoin",
    premises=(
        _PREMISE,
        "the successor of a static leader is the same leader; before JoinGroup v9 it learns its predecessor's id",
    ),
    relies_on=frozenset({Feature.GENERATIONS}),
    exempted_by=(
        IncarnationStarted,
        MemberAdded,
        MemberRemoved,
    ),
    violation=JoinAnswersAgreeViolated,
    fold=_Agree,
)
"""All answers to JoinGroup name the same leader and the same protocol for one generation of an incarnation.

The smallest history that breaks it::

    JoinGroupReplied(incarnation=0, generation=1, request=1, error="NONE", reply_generation=1, assigned_member_id="a",
                     leader="a")
    JoinGroupReplied(incarnation=0, generation=1, request=2, error="NONE", reply_generation=1, assigned_member_id="b",
                     leader="b")
"""

CLAIMS: Final = (
    GenerationHasOnlyJoined,
    SelectedProtocolIsListedByAll,
    GroupSize,
    MembersGoToTheLeader,
    JoinAnswersAgree,
)
"""In the order in which reports name them."""
