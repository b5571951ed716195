"""Persistence: what the log holds is what a coordinator hands out, loads, and keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    GroupDeleted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    IncarnationStarted,
    LogTailLost,
    MemberAdded,
    MemberRemoved,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.engines import CHECKED, Excused, Finding, Findings, broken, broken_step, form, scenario
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.coordinator import ACCEPTED, Incarnation, Incarnations
from rebalance_check.properties.views.records import NO_GROUP, Image, Records
from rebalance_check.properties.views.scenarios import PREMISES, CommittedOffsets, LastStable, OffsetsToKeep
from rebalance_check.properties.views.steps import Step, is_accepted, members_of

_RECORDED: Final = "the history holds the coordinator's events, with its records and its answers"

# ---------------------------------------------------------------------------------------------- handed out


def _on_record(event: SyncGroupReplied, incarnations: Incarnations, records: Records) -> Findings:
    """Some record of this generation gives the member the assignment of the reply."""
    group = incarnations.current
    if event.error != ACCEPTED or group is None or not records.of:
        return None
    known, begun = records.of.get(event.generation, []), group.begun
    if not known and begun is not None and begun.members and event.generation == begun.generation:
        return Excused("the generation was loaded, and its record is not in the history")
    if any(_grants(group, record, event) for record in known):
        return CHECKED
    return broken(
        f"{event.member_id} is given an assignment of generation {event.generation} that is not on record",
        *([(f"the last record of that generation was committed at {STEP}.", known[-1])] if known else []),
        (f"its SyncGroup was answered at {STEP}, and no committed record gives it this: contradiction.", event),
    )


def _grants(group: Incarnation, record: GroupMetadataAppended, event: SyncGroupReplied) -> bool:
    assignments = record.assignments or tuple((member, event.assignment) for member in record.members)
    return any(group.heir_of(member) == event.member_id and text == event.assignment for member, text in assignments)


PersistedBeforeTheyArePropagated: Final = Invariant(
    name="persisted_before_propagated",
    family="persistence",
    claim="an assignment that a SyncGroup is given is in a committed record of its generation",
    source="GroupMetadataManager.classicGroupSyncToClassicGroup",
    premises=(
        _RECORDED,
        "the successor of a static member is given what is on record for its predecessor",
        "of a generation that was loaded, the record must be in the history, too",
    ),
    exempted_by=(GroupMetadataAppended, IncarnationStarted),
    evidence=Evidence.CONCERNED,
    fold=form({SyncGroupReplied: _on_record}, views=(Incarnations, Records), needs=((GroupMetadataAppended,),)),
    breaks="""
        GroupMetadataAppended(members=(), offset=0)
        SyncGroupReplied(generation=1, member_id="a", request_generation=1, assignment="t-0")
    """,
    holds="""
        GroupMetadataAppended(generation=1, members=("a",), offset=0)
        SyncGroupReplied(generation=1, member_id="a", request_generation=1, assignment="t-0")
    """,
    excuses="""
        GroupMetadataAppended(members=(), offset=0)
        IncarnationStarted(incarnation=1, generation=1, status="Stable", members=("a",), leader="a")
        SyncGroupReplied(incarnation=1, generation=1, member_id="a", request_generation=1, assignment="t-0")
    """,
)

# ---------------------------------------------------------------------------------------------- loaded

_LOADED: Final = frozenset({GroupStatus.STABLE, GroupStatus.EMPTY, GroupStatus.PREPARING_REBALANCE})
"""The statuses in which a group is when it has been read from the log."""


def _restored(
    event: IncarnationStarted, _incarnations: Incarnations, records: Records, _stable: LastStable
) -> Findings:
    """An incarnation begins with what was written.

    A group that is created leaves what was on record before as it was: a coordinator that was deposed and does not
    know creates one that it never had, while the log of the other has it.
    """
    image, on_record = Image(event.generation, event.members), records.loaded
    if not event.status or on_record is None:
        return None
    if image == NO_GROUP:
        return CHECKED if on_record == NO_GROUP else Excused("a coordinator creates the group")
    if image != on_record and image not in records.loadable:
        found = f"generation {image.generation} with the members {', '.join(image.members) or 'none'}"
    elif (event.status == GroupStatus.STABLE) != bool(event.members) or event.status not in _LOADED:
        found = f"the status {event.status} and {len(event.members)} members"
    else:
        return CHECKED
    members = ", ".join(on_record.members) or "none"
    return broken(
        f"incarnation {event.incarnation} begins with {found}, which is not on record",
        (f"on record since {STEP}: generation {on_record.generation}, members {members}.", records.loaded_from),
        (f"incarnation {event.incarnation} began at {STEP} with {found}: contradiction.", event),
    )


def _ids_are_forgotten(
    event: MemberAdded, incarnations: Incarnations, _records: Records, _stable: LastStable
) -> Iterator[Finding]:
    """Ids that were handed out and not used are forgotten with their incarnation."""
    for incarnation, group in incarnations.known.items():
        given = group.pending.get(event.member_id) if incarnation < event.incarnation else None
        if given is not None:
            yield broken(
                f"{event.member_id}, handed out in incarnation {incarnation}, is known in {event.incarnation}",
                (f"{event.member_id} was handed out at {STEP}, and no record says so.", given),
                (f"it was accepted at {STEP}, in incarnation {event.incarnation}: contradiction.", event),
            )


def _read_again(step: Step, _incarnations: Incarnations, _records: Records, stable: LastStable) -> Findings:
    if stable.known is None or not stable.is_read_again(step):
        return None
    now = step.after.generation, members_of(step.after)
    if now == stable.known:
        return CHECKED
    (generation, members), (read, found) = stable.known, now
    headline = f"the log was read, and generation {generation} of {sorted(members)} is generation {read}"
    return broken_step(step, f"{headline} of {sorted(found)}")


LoadRestoresTheLog: Final = Invariant(
    name="load_restores_the_log",
    family="persistence",
    claim="a coordinator that loads a group begins with the generation and the members of its last record, no more",
    source="GroupMetadataManager.replay, onLoaded",
    premises=(
        _RECORDED + ", or the steps of a scenario",
        "the history is of a run, whose harness records a LogTailLost; then nothing is known until the next record",
        "a record whose commit was not seen may be read, or not",
        "the group begins Stable with members and Empty without; over capacity it prepares a rebalance at once",
        "ids that were handed out, parked requests and protocols that were not selected are forgotten",
        "a group without a generation may be a new one, of a coordinator that was deposed",
    ),
    exempted_by=(GroupDeleted, GroupMetadataAppended, GroupMetadataWritten, IncarnationStarted, LogTailLost),
    evidence=Evidence.CONCERNED,
    fold=scenario(
        _read_again,
        also={IncarnationStarted: _restored, MemberAdded: _ids_are_forgotten},
        views=(Incarnations, Records, LastStable),
    ),
    opening="""
        RunStarted(subject="broker")
        GroupMetadataAppended(generation=1, members=("a", "b"), offset=0)
    """,
    breaks="""IncarnationStarted(incarnation=1, generation=1, status="Stable", members=("a",), leader="a")""",
    holds="""IncarnationStarted(incarnation=1, generation=1, status="Stable", members=("a", "b"), leader="a")""",
    excuses="""IncarnationStarted(incarnation=1, status="Empty")""",
)

# ---------------------------------------------------------------------------------------------- deleted


def _was_empty(event: GroupDeleted, incarnations: Incarnations) -> Finding:
    group = incarnations.current
    members = group.members if group is not None and group.is_known else {}
    if event.status == GroupStatus.EMPTY and not members:
        return CHECKED
    return broken(
        f"the group is deleted while it is {event.status}",
        (f"at {STEP} it was {event.status} with {len(members)} members: contradiction.", event),
    )


OnlyEmptyGroupsAreDeleted: Final = Invariant(
    name="only_empty_groups_are_deleted",
    family="persistence",
    claim="a group's tombstone is written only while it is Empty",
    source="ClassicGroup.validateDeleteGroup; GroupCoordinatorShard.cleanupGroupMetadata",
    premises=("the history holds the coordinator's GroupDeleted",),
    exempted_by=(MemberRemoved,),
    evidence=Evidence.CONCERNED,
    fold=form({GroupDeleted: _was_empty}, views=(Incarnations,)),
    breaks="""GroupDeleted(generation=1, status="Stable")""",
    holds="""GroupDeleted(generation=1, status="Empty")""",
)

# ---------------------------------------------------------------------------------------------- offsets


def _is_fetched(step: Step, offsets: CommittedOffsets) -> Iterator[Finding]:
    last = offsets.at(step)
    for reply in step.replies_to(Api.OFFSET_FETCH) if last else ():
        for partition, offset in reply.event.offsets if is_accepted(reply) else ():
            kept = last.get(partition)
            if kept is not None and kept.offset != offset:
                headline = f"{kept.offset} was committed for {partition}, and {offset} is fetched"
                yield broken_step(step, headline, reply.event)
            elif kept is not None:
                yield CHECKED


CommittedOffsetIsFetched: Final = Invariant(
    name="committed_offset_is_fetched",
    family="persistence",
    claim="OffsetFetch returns the offset that was committed last for a partition of the group",
    source="OffsetMetadataManager.commitOffset, fetchOffsets",
    premises=(
        *PREMISES,
        "until the offset is deleted, or old (offsets.retention.minutes, or what its commit says) in a group that does "
        "not rebalance; commits of transactions are not followed",
        "a failed or held log, or lost records, leave it open until the next commit",
    ),
    evidence=Evidence.CONCERNED,
    fold=scenario(_is_fetched, views=(CommittedOffsets,)),
    opening="""
        StepStarted(step="commit a 1")
        RequestIssued(client="a", api="OffsetCommit", offsets=(("t-0", 5),))
        ReplyReceived(partition_errors=(("t-0", "NONE"),))
        GroupDescribed(status="Stable")
        StepStarted(step="fetch")
        RequestIssued(client="a", api="OffsetFetch")
    """,
    breaks="""
        ReplyReceived(offsets=(("t-0", 4),))
        GroupDescribed(status="Stable")
    """,
    holds="""
        ReplyReceived(offsets=(("t-0", 5),))
        GroupDescribed(status="Stable")
    """,
)


def _is_kept(step: Step, offsets: OffsetsToKeep) -> Findings:
    """A group with a committed offset, or with one in an open transaction, is not deleted by itself."""
    if step.verb != "advance" or not (offsets.producers or step.now_ms < offsets.until_ms):
        return None
    if step.after.status != GroupStatus.DEAD:
        return CHECKED
    return broken_step(step, "the group is deleted with offsets that are not too old, or with an open transaction")


KeptOffsetsKeepTheirGroup: Final = Invariant(
    name="kept_offsets_keep_their_group",
    family="persistence",
    claim="no group is deleted with offsets that are not too old, or with an open transaction",
    source="KIP-211; OffsetMetadataManager.cleanupExpiredOffsets",
    premises=(*PREMISES, "the commit of an open transaction would make offsets of a group that is gone"),
    evidence=Evidence.CONCERNED,
    fold=scenario(_is_kept, views=(OffsetsToKeep,)),
    opening="""
        CoordinatorConfigured(max_size=1, offsets_retention_ms=60000)
        StepStarted(step="commit a 1")
        RequestIssued(client="a", api="OffsetCommit", offsets=(("t-0", 5),))
        ReplyReceived(partition_errors=(("t-0", "NONE"),))
        GroupDescribed(status="Empty")
        StepStarted(step="advance 1")
    """,
    breaks="""GroupDescribed(status="Dead")""",
    holds="""GroupDescribed(status="Empty")""",
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
