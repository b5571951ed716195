"""An observer's conclusions from events: who belongs to which generation, and who holds which partitions since when.

Folds share these memories instead of each inventing its own. An unknown value stays unknown: a client that cannot
tell the coordinator's incarnation is placed in one only where the coordinator's own events say which.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final, TypeAlias, TypeVar

from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    AssignmentCompleted,
    Event,
    GenerationEvent,
    GenerationStarted,
    IncarnationStarted,
    LogTailLost,
    MemberAdded,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.recent import DEPARTED, GENERATIONS, WAITING, Recent

Key = TypeVar("Key")

Round: TypeAlias = tuple[int, int]
"""Incarnation and generation: only the pair is unique, since a failover may hand out a generation again."""

EXEMPTS_A_HOLDER: Final[tuple[type[Event], ...]] = (
    GenerationStarted,
    IncarnationStarted,
    LogTailLost,
    MemberCrashed,
    MemberLeft,
    MemberRemoved,
    MemberStarted,
    MembershipLost,
    PartitionsLost,
    PartitionsRevoked,
)
"""Events that may show that a member holds a thing no longer, or is not current, when another one gets it."""


class Rounds(Memory):
    """The members of each generation by the coordinator's own events, and those removed.

    Empty where the history holds no coordinator events; then no member is known to be removed.
    """

    def __init__(self) -> None:
        self.members: Recent[Round, frozenset[str]] = Recent(GENERATIONS)
        self.incarnations = 0
        self._latest = UNKNOWN_INCARNATION
        self._known: Recent[int, set[str]] = Recent(GENERATIONS)
        self._removed: Recent[tuple[int, str], None] = Recent(DEPARTED)
        handlers: dict[type[Event], Handler] = {
            IncarnationStarted: self.on_incarnation,
            GenerationStarted: self.on_generation,
            MemberAdded: self.on_added,
            MemberRemoved: self.on_removed,
        }
        super().__init__(handlers)

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """Another incarnation of the group at the coordinator."""
        self.incarnations += 1
        self._latest = max(self._latest, event.incarnation)
        self._known[event.incarnation] = set(event.members)

    def on_generation(self, event: GenerationStarted) -> None:
        """Remember who is in the generation, so that a member id and a generation tell the incarnation."""
        self.members.pop((event.incarnation, event.generation), None)
        self.members[event.incarnation, event.generation] = frozenset(event.members)
        self._known_of(event.incarnation).update(event.members)

    def on_added(self, event: MemberAdded) -> None:
        """A member id entered the group."""
        self._known_of(event.incarnation).add(event.member_id)
        self._removed.pop((event.incarnation, event.member_id), None)

    def on_removed(self, event: MemberRemoved) -> None:
        """A member id left the group; a process that still acts under it is a zombie."""
        self._known_of(event.incarnation).discard(event.member_id)
        self._removed.pop((event.incarnation, event.member_id), None)
        self._removed[event.incarnation, event.member_id] = None

    def round_of(self, event: GenerationEvent) -> Round:
        """The incarnation and generation a member speaks for.

        A client that cannot tell the incarnation is in the last one that had it in this generation; else it is unknown.
        """
        if event.incarnation == UNKNOWN_INCARNATION:
            for place in reversed(self.members):
                if place[1] == event.generation and event.member_id in self.members[place]:
                    return place
        return event.incarnation, event.generation

    @property
    def have_coordinator_events(self) -> bool:
        """Whether this history has events of the coordinator, so that a member id counts until it is seen removed."""
        return self.incarnations > 0 or bool(self.members)

    def is_removed(self, incarnation: int, member_id: str) -> bool:
        """Whether the coordinator removed this member id in this incarnation.

        Of members that left long ago nothing is kept: then an id that is not known to be in the group was removed.
        """
        if (incarnation, member_id) in self._removed:
            return True
        return self._removed.has_forgotten and self._lacks(incarnation, member_id)

    def is_absent(self, member_id: str) -> bool:
        """Whether the last incarnation that began has no such member."""
        return self._lacks(self._latest, member_id)

    def _lacks(self, incarnation: int, member_id: str) -> bool:
        known = self._known.get(incarnation)
        return bool(member_id) and known is not None and member_id not in known

    def _known_of(self, incarnation: int) -> set[str]:
        known = self._known.get(incarnation)
        if known is None:
            known = self._known[incarnation] = set()
        return known


class Instances(Memory):
    """The process with each instance id (KIP-345), as far as processes tell when they start."""

    def __init__(self) -> None:
        self._of: Recent[str, str] = Recent(WAITING)
        super().__init__({MemberStarted: self.on_started})

    def on_started(self, event: MemberStarted) -> None:
        """A process starts, as a static member or not."""
        if event.group_instance_id:
            self._of[event.member] = event.group_instance_id
        else:
            self._of.pop(event.member, None)

    def is_static(self, name: str) -> bool:
        """Whether the process has an instance id."""
        return self._of.get(name, "") != ""

    def share_an_instance_id(self, one: str, other: str) -> bool:
        """Whether two processes have one instance id: the one that joined last has the slot, the other is a zombie."""
        return self.is_static(one) and self._of.get(one) == self._of.get(other)


@dataclass(slots=True)
class Holder:
    """The partitions of one member process, with the event since which it holds each, and the generation for which it
    speaks (None: it knows that it belongs to none); ``joined`` is the event that says so.

    Those ``unconfirmed`` count again from its next assignment on.
    """

    name: str
    round: Round | None = None
    member_id: str = ""
    joined: Event | None = None
    holds: dict[str, Event] = field(default_factory=dict)
    unconfirmed: set[str] = field(default_factory=set)


class Holdings(Memory):
    """The holders of partitions: ``holders`` by partition, ``in_round`` by round and partition.

    ``granted`` has the holder and the partitions that the event at hand added to a generation: one taken, or a
    generation entered with some still held (not every client tells when it joins).
    """

    uses: ClassVar = (Rounds, Instances)

    def __init__(self, rounds: Rounds, instances: Instances) -> None:
        self.rounds = rounds
        self.instances = instances
        self.members: dict[str, Holder] = {}
        self.holders: dict[str, dict[str, Holder]] = {}
        self.in_round: dict[tuple[Round, str], dict[str, Holder]] = {}
        self.granted: tuple[Holder, tuple[str, ...]] | None = None
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_gone,
            MemberCrashed: self.on_ended,
            MemberLeft: self.on_ended,
            MemberJoined: self.on_joined,
            MembershipLost: self.on_membership_lost,
            PartitionsAssigned: self.on_assigned,
            PartitionsRevoked: self.on_given_up,
            PartitionsLost: self.on_given_up,
            AssignmentCompleted: self.on_completed,
            LogTailLost: self.on_tail_lost,
        }
        super().__init__(handlers)

    def of(self, name: str) -> Holder:
        """The things of the member process ``name``."""
        holder = self.members.get(name)
        if holder is None:
            holder = self.members[name] = Holder(name)
        return holder

    def name_of(self, member_id: str) -> str:
        """The process behind a member id, as far as it has shown itself."""
        return next((one.name for one in self.members.values() if one.member_id == member_id), member_id)

    def on_gone(self, event: MemberEvent) -> None:
        """The process starts afresh or ended: it holds nothing and belongs to no generation."""
        holder = self.of(event.member)
        self._drop(holder, tuple(holder.holds))
        self._move(holder, None)
        holder.member_id, holder.joined = "", None

    def on_ended(self, event: MemberEvent) -> None:
        """The process ended: nothing of it is kept."""
        self.on_gone(event)
        del self.members[event.member]

    def on_joined(self, event: MemberJoined) -> None:
        """It speaks for the generation from here on, for all that it still holds."""
        holder = self.of(event.member)
        self._speak(holder, event)
        self.granted = (holder, tuple(holder.holds)) if holder.holds else None

    def on_membership_lost(self, event: MembershipLost) -> None:
        """It knows that it belongs to no generation; it holds its things as a zombie."""
        holder = self.of(event.member)
        self._move(holder, None)
        holder.joined = event

    def on_assigned(self, event: PartitionsAssigned) -> None:
        """The partitions were added."""
        self._take(event, event.partitions)

    def on_given_up(self, event: PartitionsRevoked | PartitionsLost) -> None:
        """The partitions were revoked or lost."""
        self._drop(self.of(event.member), event.partitions)

    def on_completed(self, event: AssignmentCompleted) -> None:
        """It holds exactly these; anything else it held was silently replaced (EAGER)."""
        holder = self.of(event.member)
        held, confirmed = holder.holds, set(holder.unconfirmed)
        holder.unconfirmed.clear()
        if len(held) != len(event.owned) or any(thing not in held for thing in event.owned):
            owned = frozenset(event.owned)
            self._drop(holder, tuple(thing for thing in held if thing not in owned))
        entered = self._speak(holder, event)
        added = tuple(thing for thing in event.owned if thing not in held)
        for thing in added:
            self._hold(holder, thing, event)
        newly_granted = tuple(held) if entered else added + tuple(thing for thing in held if thing in confirmed)
        self.granted = (holder, newly_granted) if newly_granted else None

    def on_tail_lost(self, _event: LogTailLost) -> None:
        """The log may restore a member whose removal it has lost, and with it the things of that zombie."""
        for holder in self.members.values():
            holder.unconfirmed.update(holder.holds)

    def _speak(self, holder: Holder, event: GenerationEvent) -> bool:
        """Note the generation it speaks for; whether that is another than before.

        A static member may have been silent through a generation, which gave its things on: they count again from
        its next assignment on. So it is where a late copy of its JoinGroup put a member into a generation.
        """
        before = holder.round
        if event.generation != NO_GENERATION:
            now = self.rounds.round_of(event)
            self._move(holder, now)
            holder.member_id, holder.joined = event.member_id, event
            if before is not None and self._missed_a_round(holder, before, now):
                holder.unconfirmed.update(holder.holds)
        return holder.round != before

    def _missed_a_round(self, holder: Holder, before: Round, now: Round) -> bool:
        """Whether it was silent in a generation between, in which the coordinator counted it as a member."""
        if self.instances.is_static(holder.name):
            return now > (before[0], before[1] + 1)
        if now[0] != before[0] or now[1] - before[1] < 2:
            return False
        return any(before < each < now and holder.member_id in members for each, members in self.rounds.members.items())

    def _take(self, event: GenerationEvent, things: tuple[str, ...]) -> None:
        holder = self.of(event.member)
        entered = self._speak(holder, event)
        for thing in things:
            self._hold(holder, thing, event)
        self.granted = (holder, tuple(holder.holds) if entered else things)

    def _move(self, holder: Holder, to: Round | None) -> None:
        """It speaks for another round, for all that it holds."""
        if holder.round != to:
            for thing in holder.holds:
                self._leave_round(holder, thing)
            holder.round = to
            for thing in holder.holds:
                self._enter_round(holder, thing)

    def _enter_round(self, holder: Holder, thing: str) -> None:
        if holder.round is not None:
            self.in_round.setdefault((holder.round, thing), {})[holder.name] = holder

    def _leave_round(self, holder: Holder, thing: str) -> None:
        if holder.round is not None:
            _discard(self.in_round, (holder.round, thing), holder.name)

    def _hold(self, holder: Holder, thing: str, event: Event) -> None:
        holder.holds[thing] = event
        self.holders.setdefault(thing, {})[holder.name] = holder
        self._enter_round(holder, thing)

    def _drop(self, holder: Holder, things: tuple[str, ...]) -> None:
        for thing in things:
            if holder.holds.pop(thing, None) is not None:
                self._leave_round(holder, thing)
                _discard(self.holders, thing, holder.name)
                holder.unconfirmed.discard(thing)


def _discard(holders: dict[Key, dict[str, Holder]], key: Key, name: str) -> None:
    """Take a holder away, and the key with the last one."""
    holders[key].pop(name, None)
    if not holders[key]:
        del holders[key]
