"""The log behind the group: what is handed out is on record first, and what is on record is what comes back."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    GroupDeleted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupStatusChanged,
    IncarnationStarted,
    JoinGroupReplied,
    LogTailLost,
    MemberAdded,
    MemberRemoved,
    NodeChanged,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.features import Feature
from rebalance_check.properties.invariants.observed_times import ObservedLoads
from rebalance_check.properties.kinds import Handler, Invariant, Memories, either
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import (
    ACCEPTED,
    Incarnation,
    IncarnationFold,
)
from rebalance_check.properties.views.simulated import Run

LOADED: Final = frozenset({GroupStatus.STABLE, GroupStatus.EMPTY, GroupStatus.PREPARING_REBALANCE})
"""The statuses with which a group may come back from the log."""

KEPT_GENERATIONS: Final = 8
"""Of how many generations the assignments on record are kept: a replaced coordinator may answer from an old one."""


class PersistedBeforeTheyArePropagatedViolated(Violation):
    """A member was given an assignment that no committed record holds."""


class OneAssignmentPerGenerationViolated(Violation):
    """A member was given two different assignments in one generation."""


class StableIsPersistedViolated(Violation):
    """A group became Stable without a record of its generation and its members."""


class LoadRestoresTheLogViolated(Violation):
    """A coordinator began with a group that is not what the log holds."""


class OnlyEmptyGroupsAreDeletedViolated(Violation):
    """A group that was not Empty was deleted."""


class _Propagated(IncarnationFold):
    bookkeeping = frozenset({GroupMetadataAppended})

    needs = ((GroupMetadataAppended,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {GroupMetadataAppended: self.on_appended, SyncGroupReplied: self.on_replied})
        self._records: dict[int, list[GroupMetadataAppended]] = {}
        self._tells = False

    def on_appended(self, event: GroupMetadataAppended) -> None:
        """The record is committed."""
        self._tells = True
        kept = self._records.setdefault(event.generation, [])
        kept.append(event)
        while len(self._records) > KEPT_GENERATIONS:
            del self._records[next(iter(self._records))]

    def on_replied(self, event: SyncGroupReplied) -> None:
        """Some record of this generation gives the member what the reply does."""
        group = self.incarnations.current
        if event.error != ACCEPTED or group is None or not self._tells:
            return
        records = self._records.get(event.generation, [])
        if (
            not records
            and group.begun is not None
            and group.begun.members
            and event.generation == group.begun.generation
        ):
            return
        if not any(self._grants(group, record, event) for record in records):
            self.contradiction(
                f"{event.member_id} is given an assignment of generation {event.generation} that is not on record",
                *([(f"the last record of that generation was committed at {STEP}.", records[-1])] if records else []),
                (f"its SyncGroup was answered at {STEP}, and no committed record gives it this: contradiction.", event),
            )

    @staticmethod
    def _grants(group: Incarnation, record: GroupMetadataAppended, event: SyncGroupReplied) -> bool:
        assignments = record.assignments or tuple((member, event.assignment) for member in record.members)
        return any(
            group.heir_of(member) == event.member_id and text == event.assignment for member, text in assignments
        )


class _OneAssignment(IncarnationFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {SyncGroupReplied: self.on_replied})
        self._answered: dict[int, tuple[int, dict[str, SyncGroupReplied]]] = {}

    def on_replied(self, event: SyncGroupReplied) -> None:
        """A member that asks again gets the same answer."""
        if event.error != ACCEPTED or event.incarnation < 0:
            return
        generation, answered = self._answered.get(event.incarnation, (event.generation, {}))
        if generation != event.generation:
            answered = {}
        before = answered.get(event.member_id)
        answered[event.member_id] = event
        self._answered[event.incarnation] = event.generation, answered
        if before is not None and before.assignment != event.assignment:
            self.contradiction(
                f"{event.member_id} is given two different assignments in generation {event.generation}",
                (f"its SyncGroup was answered {before.assignment or 'without bytes'} at {STEP}.", before),
                (f"and {event.assignment or 'without bytes'} at {STEP}: contradiction.", event),
            )


class _Stable(IncarnationFold):
    bookkeeping = frozenset({GroupMetadataWritten})

    needs = ((GroupMetadataAppended,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            GroupStatusChanged: self.on_status,
            GroupMetadataWritten: self.on_written,
        }
        super().__init__(invariant, handlers)
        self._tells = False

    def on_written(self, _event: GroupMetadataWritten) -> None:
        """This subject tells of its records."""
        self._tells = True

    def on_status(self, event: GroupStatusChanged) -> None:
        """The record that makes a group Stable is committed before."""
        group = self.incarnations.current
        if (
            event.to_status != GroupStatus.STABLE
            or group is None
            or not group.is_known
            or not (self._tells or group.record)
        ):
            return
        record, members = group.record, tuple(sorted(group.members))
        if record is None or record.generation != event.generation or tuple(sorted(record.members)) != members:
            self.contradiction(
                f"the group is Stable in generation {event.generation}, of which there is no record",
                *([(f"the last record, of generation {record.generation} with the members "
                    f"{', '.join(record.members)}, was committed at {STEP}.", record)] if record is not None else []),
                (f"the group became Stable at {STEP} with the members {', '.join(members)}: contradiction.", event),
            )  # fmt: skip


class _Load(IncarnationFold):
    """The last committed record, and what was written after it: the log may hold it though no event shows that."""

    run: Run
    bookkeeping = frozenset({GroupMetadataAppended, GroupMetadataWritten, GroupDeleted, LogTailLost, NodeChanged})
    needs = ((GroupMetadataAppended, IncarnationStarted, JoinGroupReplied),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                GroupMetadataAppended: self.on_appended,
                GroupMetadataWritten: self.on_written,
                GroupDeleted: self.on_deleted,
                LogTailLost: self.on_lost,
                NodeChanged: self.on_node,
                IncarnationStarted: self.on_incarnation,
                MemberAdded: self.on_added,
            },
        )
        self._is_shaken = False
        self._committed: Event | None = None
        self._image: tuple[int, tuple[str, ...]] | None = None
        self._possible: list[tuple[int, tuple[str, ...]]] = []

    def on_appended(self, event: GroupMetadataAppended) -> None:
        """This and what is written after it may be read."""
        image = (event.generation, event.members)
        if image in self._possible:
            del self._possible[: self._possible.index(image) + 1]
        self._committed, self._image = event, image

    def on_written(self, event: GroupMetadataWritten) -> None:
        """It may be in the log from now on."""
        self._possible.append((event.generation, event.members))

    def on_deleted(self, _event: GroupDeleted) -> None:
        """A deleted group begins anew, or is still there: its tombstone is a write like another."""
        self._possible.append((0, ()))

    def on_lost(self, _event: LogTailLost) -> None:
        """What is on record now is unknown."""
        self._image = None
        self._possible.clear()

    def share(self, memories: Memories) -> None:
        """Where a run is simulated, it is known whether a node was paused."""
        super().share(memories)
        self.run = Run.among(memories)
        self.memories = (*self.memories, self.run)

    def on_node(self, event: NodeChanged) -> None:
        """A node that was paused may be deposed and not know it; one that could not read its log has nothing."""
        self._is_shaken = self._is_shaken or event.change != "killed"

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """What comes back is what was written.

        A group that is created leaves what was on record before as it was: a coordinator that was deposed and does not
        know creates one that it never had, while the log of the other has it.
        """
        image = (event.generation, event.members)
        if event.status and self._image is not None and image != (0, ()):
            if image != self._image and image not in self._possible:
                self._report(f"generation {image[0]} with the members {', '.join(image[1]) or 'none'}", event)
            elif (event.status == GroupStatus.STABLE) != bool(event.members) or event.status not in LOADED:
                self._report(f"the status {event.status} and {len(event.members)} members", event)
        is_forgotten = event.status and image == (0, ()) and self._image not in {None, image}
        if is_forgotten and self.run.is_simulated and not self._is_shaken and image not in self._possible:
            self._report("a group without a generation", event)
        if event.status:
            is_created = image == (0, ())
            self._possible[:] = [self._image] if is_created and self._image is not None else []
            self._committed, self._image = event, image

    def on_added(self, event: MemberAdded) -> None:
        """Ids that were handed out and not used are forgotten with their incarnation."""
        for incarnation, group in self.incarnations.known.items():
            given = group.pending.get(event.member_id) if incarnation < event.incarnation else None
            if given is not None:
                self.contradiction(
                    f"{event.member_id}, handed out in incarnation {incarnation}, is known in {event.incarnation}",
                    (f"{event.member_id} was handed out at {STEP}, which no record tells.", given),
                    (f"it was accepted at {STEP}, in incarnation {event.incarnation}: contradiction.", event),
                )

    def _report(self, what: str, event: IncarnationStarted) -> None:
        on_record = self._image or (0, ())
        self.contradiction(
            f"incarnation {event.incarnation} begins with {what}, which is not on record",
            (f"on record since {STEP}: generation {on_record[0]}, members {', '.join(on_record[1]) or 'none'}.",
             self._committed),
            (f"incarnation {event.incarnation} began at {STEP} with {what}: contradiction.", event),
        )  # fmt: skip


class _Deleted(IncarnationFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {GroupDeleted: self.on_deleted})

    def on_deleted(self, event: GroupDeleted) -> None:
        """A group that is deleted has no member."""
        group = self.incarnations.current
        members = sorted(group.members) if group is not None and group.is_known else []
        if event.status != GroupStatus.EMPTY or members:
            self.contradiction(
                f"the group is deleted while it is {event.status}",
                (f"at {STEP} it was {event.status} with {len(members)} members: contradiction.", event),
            )


_PREMISE: Final = "the history holds the coordinator's events, with its records and its answers"

PersistedBeforeTheyArePropagated: Final = Invariant(
    name="persisted_before_propagated",
    family="persistence",
    claim="an assignment that a SyncGroup is given is in a committed record of its generation",
    source="GroupMetadataManager.classicGroupSyncToClassicGroup",
    premises=(
        _PREMISE,
        "the successor of a static member is given what is on record for its predecessor",
        "of a generation that was loaded, the record must be in the history, too",
    ),
    violation=PersistedBeforeTheyArePropagatedViolated,
    fold=_Propagated,
)
"""An assignment that a SyncGroup is given is in a committed record of its generation.

The smallest history that breaks it::

    GroupMetadataAppended(incarnation=0, generation=0, members=(), offset=0)
    SyncGroupReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a", request_generation=1,
                     assignment="t-0")
"""

OneAssignmentPerGeneration: Final = Invariant(
    name="one_assignment_per_generation",
    family="persistence",
    claim="within a generation of an incarnation, a member is always given the same assignment",
    source="GroupMetadataManager.setAndPropagateAssignment",
    premises=(
        _PREMISE,
        "after a failover members may read another one, if the leader synced twice before the first was committed",
    ),
    relies_on=frozenset({Feature.GENERATIONS}),
    exempted_by=(IncarnationStarted,),
    violation=OneAssignmentPerGenerationViolated,
    fold=_OneAssignment,
)
"""Within a generation of an incarnation, a member that asks again is given the same assignment.

The smallest history that breaks it::

    SyncGroupReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a", request_generation=1,
                     assignment="t-0")
    SyncGroupReplied(incarnation=0, generation=1, request=2, error="NONE", member_id="a", request_generation=1,
                     assignment="t-1")
"""

StableIsPersisted: Final = Invariant(
    name="stable_is_persisted",
    family="persistence",
    claim="when a group becomes Stable, its last committed record has its generation and exactly its members",
    source="GroupMetadataManager.classicGroupSyncToClassicGroup",
    premises=(_PREMISE, "while Stable, the record of a replaced static member is behind until it is committed"),
    exempted_by=(
        GroupMetadataAppended,
        MemberAdded,
        MemberRemoved,
    ),
    violation=StableIsPersistedViolated,
    fold=_Stable,
)
"""When a group becomes Stable, its last committed record has its generation and exactly its members.

The smallest history that breaks it::

    GroupMetadataAppended(incarnation=0, generation=1, members=("a",), offset=0)
    GenerationStarted(incarnation=0, generation=2, members=("a",), leader="a")
    GroupStatusChanged(incarnation=0, generation=2, from_status="CompletingRebalance", to_status="Stable")
"""

LoadRestoresTheLog: Final = Invariant(
    name="load_restores_the_log",
    family="persistence",
    claim="a coordinator that loads a group begins with the generation and the members of its last record, no more",
    source="GroupMetadataManager.replay, onLoaded",
    premises=(
        _PREMISE,
        "a record whose commit was not seen may be read, or not; after LogTailLost nothing is known until the next one",
        "the group begins Stable with members and Empty without; over capacity it prepares a rebalance at once",
        "ids that were handed out, parked requests and protocols that were not selected are forgotten",
        "a group that begins anew though the log has a record of it is seen in simulated runs, until a node is paused",
    ),
    exempted_by=(
        GroupDeleted,
        GroupMetadataAppended,
        GroupMetadataWritten,
        LogTailLost,
        NodeChanged,
    ),
    violation=LoadRestoresTheLogViolated,
    fold=either(_Load, ObservedLoads),
)
"""A coordinator that loads a group begins with what its last record tells, and with nothing that no record tells.

The smallest history that breaks it::

    GroupMetadataAppended(incarnation=0, generation=1, members=("a", "b"), offset=0)
    IncarnationStarted(incarnation=1, generation=1, status="Stable", members=("a",), leader="a")
"""

OnlyEmptyGroupsAreDeleted: Final = Invariant(
    name="only_empty_groups_are_deleted",
    family="persistence",
    claim="a group's tombstone is written only while it is Empty",
    source="ClassicGroup.validateDeleteGroup; GroupCoordinatorShard.cleanupGroupMetadata",
    premises=("the history holds the coordinator's GroupDeleted",),
    exempted_by=(MemberRemoved,),
    violation=OnlyEmptyGroupsAreDeletedViolated,
    fold=_Deleted,
)
"""A group's tombstone is written only while it is Empty.

The smallest history that breaks it::

    GroupDeleted(incarnation=0, generation=1, status="Stable")
"""

CLAIMS: Final = (
    PersistedBeforeTheyArePropagated,
    OneAssignmentPerGeneration,
    StableIsPersisted,
    LoadRestoresTheLog,
    OnlyEmptyGroupsAreDeleted,
)
"""In the order in which reports name them."""
