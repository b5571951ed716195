"""Generation monotonicity: the number goes up by one per rebalance at the coordinator, and never down at a member."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    AssignmentCompleted,
    CoordinatorEvent,
    Event,
    GenerationEvent,
    GenerationStarted,
    GroupMetadataAppended,
    GroupStatusChanged,
    IncarnationStarted,
    LogTailLost,
    MemberAdded,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    PartitionsAssigned,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import STEP, Because, Violation
from rebalance_check.properties.views.past_members import GenerationMembers

_JOINED: Final = (GroupStatus.COMPLETING_REBALANCE, GroupStatus.EMPTY)
"""What a join phase ends in, unless the group goes away."""


class GenerationMonotonicityViolated(Violation):
    """A generation number was reused, skipped, or went down."""


class _Monotonicity(Fold):
    """Keeps the last event that named a generation: of the coordinator, of its log, and of each member id."""

    bookkeeping = frozenset({LogTailLost, MemberCrashed, MemberLeft})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                IncarnationStarted: self.on_incarnation,
                GenerationStarted: self.on_generation,
                GroupMetadataAppended: self.on_appended,
                LogTailLost: self.on_tail_lost,
                GroupStatusChanged: self.on_status,
                MemberAdded: self.on_coordinator,
                MemberRemoved: self.on_coordinator,
                MemberJoined: self.on_member,
                PartitionsAssigned: self.on_member,
                AssignmentCompleted: self.on_member,
                MemberCrashed: self.on_gone,
                MemberLeft: self.on_gone,
            },
        )
        self._last: dict[int, CoordinatorEvent] = {}
        self._started: dict[int, GenerationStarted] = {}
        self._phases: dict[int, GroupStatusChanged] = {}
        self._appended: GroupMetadataAppended | None = None
        self._created = UNKNOWN_INCARNATION
        self._members: dict[str, tuple[str, dict[int, tuple[GenerationEvent, int]]]] = {}
        self._generations = GenerationMembers()
        self._incarnations: set[int] = set()

    # ---------------------------------------------------------------------------------------- the coordinator

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """An incarnation begins with a group created at 0, or with one loaded at the generation of its last
        record or later."""
        newest = max(self._incarnations, default=event.incarnation)
        before = self._last.get(newest)
        if event.incarnation in self._incarnations and before is not None:
            self._report(f"incarnation {event.incarnation} started twice", before, event)
        elif event.incarnation < newest and before is not None:
            self._report(f"incarnation {event.incarnation} started after {newest}", before, event)
        if event.generation == 0:
            self._appended, self._created = None, event.incarnation
        elif self._appended is not None and event.generation < self._appended.generation:
            self._report(
                f"incarnation {event.incarnation} starts at generation {event.generation}, below the log's "
                f"{self._appended.generation}", self._appended, event,
            )  # fmt: skip
        self._incarnations.add(event.incarnation)
        self._tell(event)
        self._last[event.incarnation] = event

    def on_generation(self, event: GenerationStarted) -> None:
        """Each generation of an incarnation starts once, and no number is left out."""
        self._tell(event)
        started = self._started.get(event.incarnation)
        self._started[event.incarnation] = event
        if started is not None and event.generation == started.generation:
            self._report(
                f"generation {event.generation} started twice in incarnation {event.incarnation}", started, event
            )
        else:
            self.on_coordinator(event)

    def _tell(self, event: IncarnationStarted | GenerationStarted) -> None:
        """The coordinator knows in which incarnation a member is in a generation, where its client does not."""
        self._generations.note(event.incarnation, event.generation, frozenset(event.members))

    def on_status(self, event: GroupStatusChanged) -> None:
        """Each join phase ends in a generation of its own, also one that ends with no member left."""
        if event.from_status == GroupStatus.PREPARING_REBALANCE and event.to_status in _JOINED:
            before = self._phases.get(event.incarnation)
            self._phases[event.incarnation] = event
            if before is not None and event.generation == before.generation:
                self._report(f"two join phases ended in generation {event.generation}", before, event)
                return
        self.on_coordinator(event)

    def on_coordinator(self, event: CoordinatorEvent) -> None:
        """The coordinator's generation stays or goes up by one."""
        last = self._last.get(event.incarnation)
        self._last[event.incarnation] = event
        if last is not None and event.generation not in (last.generation, last.generation + 1):
            self._report(
                f"the coordinator went from generation {last.generation} to {event.generation} "
                f"in incarnation {event.incarnation}", last, event,
            )  # fmt: skip

    def on_appended(self, event: GroupMetadataAppended) -> None:
        """Along the log, neither the offset nor the generation goes down within one incarnation of the group.

        The event carries the record's generation, which the coordinator may have left behind meanwhile.
        """
        appended, self._appended = self._appended, event
        if appended is None:
            return
        if event.offset <= appended.offset:
            self._report(f"the log's offset went from {appended.offset} to {event.offset}", appended, event)
        elif event.generation < appended.generation and not self._is_of_a_new_group(event, appended):
            self._report(f"the log went from generation {appended.generation} to {event.generation}", appended, event)

    def _is_of_a_new_group(self, event: GroupMetadataAppended, appended: GroupMetadataAppended) -> bool:
        """Whether the group was made anew between two records, of which the log acknowledged the older one late."""
        return event.incarnation == self._created and event.incarnation > appended.incarnation

    def on_tail_lost(self, _event: LogTailLost) -> None:
        """What was on record may be gone."""
        self._appended = None

    # ---------------------------------------------------------------------------------------- members

    def on_member(self, event: GenerationEvent) -> None:
        """Under one member id, a member is never in a lower generation than before."""
        if event.generation == NO_GENERATION or not event.member_id:
            return
        member_id, places = self._members.get(event.member, (event.member_id, {}))
        if member_id != event.member_id:
            places = {}
        self._members[event.member] = event.member_id, places
        incarnation = self._generations.incarnation_of(event.member_id, event.generation)
        last, last_incarnation = places.get(event.incarnation, (event, incarnation))
        places[event.incarnation] = (event, incarnation)
        if event.generation >= last.generation or UNKNOWN_INCARNATION < last_incarnation < incarnation:
            return
        if event.incarnation == UNKNOWN_INCARNATION and len(self._incarnations) > 1:
            self.doubt(
                f"{event.member} went from generation {last.generation} to {event.generation}, and cannot tell whether "
                f"the coordinator failed over in between: record the incarnation with the client's events"
            )
            return
        self._report(f"{event.member} went from generation {last.generation} to {event.generation}", last, event)

    def on_gone(self, event: MemberEvent) -> None:
        """The process ended; it comes back under another member id."""
        self._members.pop(event.member, None)

    def _report(self, headline: str, before: Event, event: Event) -> None:
        then = getattr(before, "generation", NO_GENERATION)
        self.violated(
            headline,
            [
                Because(f"{before.source} was in generation {then} at {STEP}.", before),
                Because(f"at {STEP} {headline}: contradiction.", event),
            ],
            [before, event],
        )


GenerationMonotonicity: Final = Invariant(
    name="generation_monotonicity",
    family="generation",
    claim="the generation goes up by one per rebalance at the coordinator, and never down along the log or at a member",
    source="ClassicGroup.initNextGeneration; GroupMetadataManager.replay; AbstractCoordinator.Generation",
    premises=(
        "numbers are compared within one incarnation: a failover may hand out anew one that was not persisted",
        "a deleted group starts again at generation 0, in a new incarnation; after LogTailLost the log is not compared",
        "a client that cannot tell the incarnation is held against itself under one member id, if no failover was seen",
        "a lower generation is no step down where the coordinator's events place it in a later incarnation",
    ),
    relies_on=frozenset({Feature.GENERATIONS}),
    exempted_by=(
        IncarnationStarted,
        LogTailLost,
    ),
    violation=GenerationMonotonicityViolated,
    fold=_Monotonicity,
)
"""Within one incarnation the coordinator's generation stays or goes up by exactly one, each generation starts once, the
generation does not go down along the log within one incarnation of the group, nor at a member under one member id.

Source: ``ClassicGroup.initNextGeneration`` (the only place that counts), ``GroupMetadataManager`` (what is persisted).
A number may be used again only by a later incarnation, where it was never persisted.

The smallest history that breaks it::

    GenerationStarted(incarnation=1, generation=2, members=("a",), leader="a")
    GenerationStarted(incarnation=1, generation=2, members=("a", "b"), leader="a")
"""

CLAIMS: Final = (GenerationMonotonicity,)
"""In the order in which reports name them."""
