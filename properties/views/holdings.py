"""An observer's conclusions from events: who belongs to which generation, and who holds which things since when.

Folds share these memories instead of each inventing its own. An unknown value stays unknown: a client that cannot
tell the coordinator's incarnation is placed in one only where the coordinator's own events say which.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    AssignmentCompleted,
    ConnectAssignmentReceived,
    ConnectorStarted,
    ConnectorStopped,
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
    TaskStarted,
    TaskStopped,
    WorkCancelled,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.past_members import Departed, GenerationMembers
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent

EAGER: Final = "default"
"""The subprotocol of Connect under which every worker stops all work before it joins."""

Round: TypeAlias = tuple[int, int]
"""Incarnation and generation: only the pair is unique, since a failover may hand out a generation again."""

EXEMPTS_A_HOLDER: Final[tuple[type[Event], ...]] = (
    ConnectAssignmentReceived,
    ConnectorStopped,
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
    TaskStopped,
    WorkCancelled,
)
"""Events that may show that a member holds a thing no longer, or is not current, when another one gets it."""


class Rounds(Memory):
    """The members of each generation by the coordinator's own events, and those removed.

    Empty where the history holds no coordinator events; then no member is known to be removed.
    """

    def __init__(self) -> None:
        self.members: Recent[Round, frozenset[str]] = Recent(GENERATIONS)
        self.incarnations = 0
        self._generations = GenerationMembers()
        self._known: Recent[int, set[str]] = Recent(GENERATIONS)
        self._removed: set[tuple[int, str]] = set()
        self._departed = Departed()
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
        self._known[event.incarnation] = set(event.members)

    def on_generation(self, event: GenerationStarted) -> None:
        """Remember who is in the generation, so that a member id and a generation tell the incarnation."""
        members = frozenset(event.members)
        self.members[event.incarnation, event.generation] = members
        self._generations.note(event.incarnation, event.generation, members)
        self._known_of(event.incarnation).update(members)

    def on_added(self, event: MemberAdded) -> None:
        """A member id entered the group."""
        self._known_of(event.incarnation).add(event.member_id)
        self._removed.discard((event.incarnation, event.member_id))

    def on_removed(self, event: MemberRemoved) -> None:
        """A member id left the group; a process that still acts under it is a zombie."""
        self._known_of(event.incarnation).discard(event.member_id)
        self._removed.add((event.incarnation, event.member_id))
        oldest = self._departed.note(event.incarnation, event.member_id)
        if oldest is not None:
            self._removed.discard(oldest)

    def round_of(self, event: GenerationEvent) -> Round:
        """The incarnation and generation a member speaks for; the incarnation stays unknown where nothing tells it."""
        if event.incarnation != UNKNOWN_INCARNATION:
            return event.incarnation, event.generation
        return self._generations.incarnation_of(event.member_id, event.generation), event.generation

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
        known = self._known.get(incarnation)
        return self._departed.forgot_some and bool(member_id) and known is not None and member_id not in known

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
    """The things of one member process, and the generation for which it speaks (None: it knows that it belongs to
    none).

    ``lost`` is the one that it spoke for when it last learned that it belongs to none.
    ``work_protocol`` is the subprotocol of a Connect worker's last assignment, ``carried`` the work that it ran under
    an incremental one when an eager assignment came, and has not stopped since.
    """

    name: str
    round: Round | None = None
    lost: Round | None = None
    member_id: str = ""
    joined: Event | None = None
    holds: dict[str, Event] = field(default_factory=dict)
    unconfirmed: set[str] = field(default_factory=set)
    work_protocol: str = ""
    carried: set[str] = field(default_factory=set)

    @property
    def is_incremental(self) -> bool:
        """Whether its last assignment of Connect's work came under an incremental protocol."""
        return self.work_protocol not in {"", EAGER}

    def ignored_claims(self) -> set[str]:
        """The work that an eager round gives away although this worker runs it (KAFKA-13816)."""
        return {thing for thing in self.holds if " " in thing} if self.is_incremental else self.carried


class Holdings(Memory):
    """The holders of partitions, connectors and tasks: ``holders`` by thing, ``in_round`` by round and thing.

    A thing is named as reports print it: ``t-0``, ``connector c``, ``task c-0``. ``holds`` maps it to the event since
    which it is held. ``granted`` has the holder and the things that the event at hand added to a generation: a
    thing taken, or a generation entered with things still held (not every client tells when it joins).
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
            ConnectorStarted: self.on_connector_started,
            ConnectorStopped: self.on_connector_stopped,
            TaskStarted: self.on_task_started,
            TaskStopped: self.on_task_stopped,
            WorkCancelled: self.on_work_cancelled,
            ConnectAssignmentReceived: self.on_work_assigned,
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
        if event.protocol == EAGER:
            holder.unconfirmed.update(holder.ignored_claims())
        self.granted = (holder, tuple(holder.holds)) if holder.holds else None

    def on_membership_lost(self, event: MembershipLost) -> None:
        """It knows that it belongs to no generation; it holds its things as a zombie."""
        holder = self.of(event.member)
        holder.lost = holder.round
        self._move(holder, None)
        holder.joined = event
        holder.unconfirmed.update(thing for thing in holder.holds if " " in thing)

    def on_assigned(self, event: PartitionsAssigned) -> None:
        """The partitions were added."""
        self._take(event, event.partitions)

    def on_given_up(self, event: PartitionsRevoked | PartitionsLost) -> None:
        """The partitions were revoked or lost."""
        self._drop(self.of(event.member), event.partitions)

    def on_completed(self, event: AssignmentCompleted) -> None:
        """It holds exactly these; anything else it held was silently replaced (EAGER)."""
        holder = self.of(event.member)
        if holder.work_protocol and holder.round is None and holder.lost == self.rounds.round_of(event):
            self.granted = None  # a worker that stops revoked work may lose its membership before it is done
            return
        held, confirmed = holder.holds, set(holder.unconfirmed)
        holder.unconfirmed.clear()
        if len(held) != len(event.owned) or any(thing not in held for thing in event.owned):
            owned = frozenset(event.owned)
            self._drop(holder, tuple(thing for thing in held if thing not in owned and " " not in thing))
        entered = self._speak(holder, event)
        added = tuple(thing for thing in event.owned if thing not in held)
        for thing in added:
            self._hold(holder, thing, event)
        newly_granted = tuple(held) if entered else added + tuple(thing for thing in held if thing in confirmed)
        self.granted = (holder, newly_granted) if newly_granted else None

    def on_connector_started(self, event: ConnectorStarted) -> None:
        """The worker runs the connector."""
        self._take(event, (f"connector {event.connector}",))

    def on_connector_stopped(self, event: ConnectorStopped) -> None:
        """The worker runs the connector no more."""
        self._drop(self.of(event.member), (f"connector {event.connector}",))

    def on_task_started(self, event: TaskStarted) -> None:
        """The worker runs the task."""
        self._take(event, (f"task {event.task}",))

    def on_task_stopped(self, event: TaskStopped) -> None:
        """The worker runs the task no more."""
        self._drop(self.of(event.member), (f"task {event.task}",))

    def on_work_cancelled(self, event: WorkCancelled) -> None:
        """The worker has given up waiting for the end of the work: it may still run, as that of a zombie."""
        self._drop(self.of(event.member), (f"connector {event.work}", f"task {event.work}"))

    def on_work_assigned(self, event: ConnectAssignmentReceived) -> None:
        """Work that an eager assignment leaves out of an incremental worker's claim goes on as a zombie's
        (KAFKA-13816).

        So does work that later eager ones leave out, until it is stopped.
        """
        holder = self.of(event.member)
        if event.protocol == EAGER:
            holder.carried = holder.ignored_claims()
            kept = {f"{kind} {work}" for work in event.assigned for kind in ("connector", "task")}
            self._drop(holder, tuple(sorted(holder.carried - kept)))
        else:
            holder.carried.clear()
        holder.work_protocol = event.protocol

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
            self._move(holder, self.rounds.round_of(event))
            holder.member_id, holder.joined = event.member_id, event
            assert holder.round is not None
            if before is not None and self._missed_a_round(holder, before, holder.round):
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
        if holder.round is None:
            holder.unconfirmed.update(thing for thing in things if " " in thing)
        self.granted = (holder, tuple(holder.holds) if entered else things)

    def _move(self, holder: Holder, to: Round | None) -> None:
        """It speaks for another round, for all that it holds."""
        if holder.round == to:
            return
        for thing in holder.holds:
            self._leave_round(holder, thing)
        holder.round = to
        for thing in holder.holds:
            self._enter_round(holder, thing)

    def _enter_round(self, holder: Holder, thing: str) -> None:
        if holder.round is not None:
            self.in_round.setdefault((holder.round, thing), {})[holder.name] = holder

    def _leave_round(self, holder: Holder, thing: str) -> None:
        key = (holder.round, thing) if holder.round is not None else None
        if key is not None and key in self.in_round:
            others = self.in_round[key]
            others.pop(holder.name, None)
            if not others:
                del self.in_round[key]

    def _hold(self, holder: Holder, thing: str, event: Event) -> None:
        holder.holds[thing] = event
        holder.carried.discard(thing)
        self.holders.setdefault(thing, {})[holder.name] = holder
        self._enter_round(holder, thing)

    def _drop(self, holder: Holder, things: tuple[str, ...]) -> None:
        for thing in things:
            if holder.holds.pop(thing, None) is not None:
                self._leave_round(holder, thing)
                holders = self.holders[thing]
                holders.pop(holder.name, None)
                if not holders:
                    del self.holders[thing]
                holder.unconfirmed.discard(thing)
                holder.carried.discard(thing)
