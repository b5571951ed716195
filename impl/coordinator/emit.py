"""The events of the coordinator, emitted when they happen; nothing is built when no recorder listens."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, TypedDict

from rebalance_check.impl.coordinator.config import GroupConfig
from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.records import GroupRecord
from rebalance_check.impl.protocol.digest import assignment_digest, metadata_digest
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    GroupRequest,
    HeartbeatReply,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    OffsetCommitReply,
    SyncGroupReply,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary import events
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.model.vocabulary.ids import NO_GENERATION

NO_GROUP: Final = -1

RecorderFor = Callable[[str], Recorder]
"""Gives the recorder of a group."""


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A request on its way through the coordinator: its number there, and the token its answer goes to."""

    number: int
    token: Hashable
    request: GroupRequest


class RequestFields(TypedDict):
    """Where a request meets the group, and what it says about its sender, as events carry it."""

    incarnation: int
    generation: int
    request: int
    member_id: str
    instance_id: str
    request_generation: int


class EventEmitter:
    """Emits what happens to groups and requests. ``recorder_for`` gives the recorder of a group; None: no events.

    ``config`` is the broker's, of which events about a group carry some settings.
    """

    __slots__ = ("_config", "_recorder_for", "_recorders")

    def __init__(self, recorder_for: RecorderFor | None, config: GroupConfig) -> None:
        self._recorder_for = recorder_for
        self._config = config
        self._recorders: dict[str, Recorder] = {}

    def _recorder(self, group_id: str) -> Recorder | None:
        """The one recorder of a group: it numbers the events."""
        if self._recorder_for is None:
            return None
        if group_id not in self._recorders:
            self._recorders[group_id] = self._recorder_for(group_id)
        return self._recorders[group_id]

    def incarnation_started(self, group: Group) -> None:
        """The group was created or loaded."""
        recorder = self._recorder(group.group_id)
        if recorder is not None:
            members = sorted(group.members.values(), key=lambda member: member.member_id)
            recorder.emit(
                events.IncarnationStarted(
                    incarnation=group.incarnation,
                    generation=group.generation,
                    status=group.status.value,
                    members=tuple(member.member_id for member in members),
                    instances=tuple(
                        (m.member_id, m.group_instance_id) for m in members if m.group_instance_id is not None
                    ),
                    leader=group.leader or "",
                    protocol=group.protocol_name or "",
                    max_size=self._config.max_size,
                    initial_rebalance_delay_ms=self._config.initial_rebalance_delay_ms,
                    rebalance_timeout_ms=max((member.rebalance_timeout_ms for member in members), default=0),
                    session_timeout_ms=max((member.session_timeout_ms for member in members), default=0),
                    committed=tuple(
                        (f"{topic}-{index}", stored.committed.offset)
                        for (topic, index), stored in sorted(group.offsets.committed.items())
                    ),
                )
            )

    def incarnation_ended(self, group: Group, *, deposed: bool = False) -> None:
        """The coordinator no longer serves the group; ``deposed``: and does not know it yet."""
        recorder = self._recorder(group.group_id)
        if recorder is not None:
            recorder.emit(
                events.IncarnationEnded(incarnation=group.incarnation, generation=group.generation, deposed=deposed)
            )

    def moved(self, group: Group, before: GroupStatus) -> None:
        """The group has left the status ``before``."""
        recorder = self._recorder(group.group_id)
        if recorder is not None:
            recorder.emit(
                events.GroupStatusChanged(
                    incarnation=group.incarnation,
                    generation=group.generation,
                    from_status=before.value,
                    to_status=group.status.value,
                )
            )

    def member_added(self, group: Group, member_id: str) -> None:
        """A member id entered the group."""
        recorder = self._recorder(group.group_id)
        if recorder is not None:
            recorder.emit(
                events.MemberAdded(
                    incarnation=group.incarnation,
                    generation=group.generation,
                    member_id=member_id,
                    instance_id=group.members[member_id].group_instance_id or "",
                )
            )

    def member_removed(self, group: Group, member_id: str, reason: str) -> None:
        """A member id left the group, for one of the reasons that the event lists."""
        recorder = self._recorder(group.group_id)
        if recorder is not None:
            recorder.emit(
                events.MemberRemoved(
                    incarnation=group.incarnation, generation=group.generation, member_id=member_id, reason=reason
                )
            )

    def generation_started(self, group: Group) -> None:
        """The join phase of the group's generation is complete."""
        recorder = self._recorder(group.group_id)
        if recorder is not None:
            recorder.emit(
                events.GenerationStarted(
                    incarnation=group.incarnation,
                    generation=group.generation,
                    members=tuple(sorted(group.members)),
                    leader=group.leader or "",
                    protocol=group.protocol_name or "",
                )
            )

    def metadata_written(self, group: Group, record: GroupRecord) -> None:
        """A group record is handed to the log."""
        recorder = self._recorder(group.group_id)
        if recorder is not None:
            members = tuple(sorted(member.member_id for member in record.members))
            recorder.emit(
                events.GroupMetadataWritten(
                    incarnation=group.incarnation, generation=record.generation, members=members
                )
            )

    def metadata_appended(self, group: Group, record: GroupRecord, offset: int) -> None:
        """A group record is committed; generation and members are the record's, not necessarily the group's."""
        recorder = self._recorder(group.group_id)
        if recorder is not None:
            assigned = tuple(
                sorted((member.member_id, assignment_digest(member.assignment)) for member in record.members)
            )
            recorder.emit(
                events.GroupMetadataAppended(
                    incarnation=group.incarnation,
                    generation=record.generation,
                    members=tuple(member_id for member_id, _ in assigned),
                    offset=offset,
                    assignments=assigned,
                )
            )

    def group_deleted(self, group: Group) -> None:
        """The group's tombstone is handed to the log."""
        recorder = self._recorder(group.group_id)
        if recorder is not None:
            recorder.emit(
                events.GroupDeleted(
                    incarnation=group.incarnation, generation=group.generation, status=group.status.value
                )
            )

    def parked(self, group: Group, member_id: str, token: Hashable) -> None:
        """A request is kept for ``member_id``, to be answered later."""
        recorder = self._recorder(group.group_id)
        if recorder is not None and isinstance(token, Ticket):
            recorder.emit(_parked(token, member_id, group.incarnation, group.generation))

    def replied(self, ticket: Ticket, reply: GroupReply, group: Group | None) -> None:
        """A request of ``group``, None where it is absent, is answered."""
        recorder = self._recorder(ticket.request.group_id)
        if recorder is None:
            return
        at = (NO_GROUP, NO_GROUP) if group is None else (group.incarnation, group.generation)
        event = _replied(ticket, reply, *at)
        if event is not None:
            recorder.emit(event)


def _sender(ticket: Ticket, incarnation: int, generation: int) -> RequestFields:
    """The sender of a request and the generation it names; of a LeaveGroup, its first entry."""
    request = ticket.request
    who = request.members[0] if isinstance(request, LeaveGroupRequest) and request.members else request
    return {
        "incarnation": incarnation,
        "generation": generation,
        "request": ticket.number,
        "member_id": getattr(who, "member_id", ""),
        "instance_id": getattr(who, "group_instance_id", None) or "",
        "request_generation": getattr(request, "generation_id", NO_GENERATION),
    }


def _parked(ticket: Ticket, member_id: str, incarnation: int, generation: int) -> events.RequestParked:
    """The event of a request that is kept for ``member_id``."""
    request = ticket.request
    who = _sender(ticket, incarnation, generation)
    who["member_id"] = member_id
    api = type(request).__name__.removesuffix("Request")
    if not isinstance(request, JoinGroupRequest):
        return events.RequestParked(**who, api=api)
    return events.RequestParked(
        **who,
        api=api,
        protocols=tuple(protocol.name for protocol in request.protocols),
        # Version 0 has one timeout for both.
        rebalance_timeout_ms=request.rebalance_timeout_ms if request.version else request.session_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        metadata=metadata_digest(request.protocols),
    )


def _replied(ticket: Ticket, reply: GroupReply, incarnation: int, generation: int) -> events.ReplyEvent | None:
    """The event of an answer; None for an OffsetFetch, which is never fenced."""
    who, error = _sender(ticket, incarnation, generation), reply.error.name
    match reply:
        case HeartbeatReply():
            return events.HeartbeatReplied(**who, error=error)
        case JoinGroupReply():
            return _joined(ticket.request, reply, who)
        case SyncGroupReply():
            return events.SyncGroupReplied(**who, error=error, assignment=assignment_digest(reply.assignment))
        case LeaveGroupReply():
            return events.LeaveGroupReplied(**who, error=error)
        case OffsetCommitReply():
            failed = (each for _, _, each in reply.partitions if each is not Error.NONE)
            answered = reply.error if reply.error is not Error.NONE else next(failed, Error.NONE)
            return events.OffsetCommitReplied(**who, error=answered.name)
        case _:
            return None


def _joined(request: GroupRequest, reply: JoinGroupReply, who: RequestFields) -> events.JoinGroupReplied:
    offered = request.protocols if isinstance(request, JoinGroupRequest) else ()
    return events.JoinGroupReplied(
        **who,
        error=reply.error.name,
        reply_generation=reply.generation_id,
        assigned_member_id=reply.member_id,
        leader=reply.leader,
        protocol=reply.protocol_name or "",
        listed_members=tuple(member.member_id for member in reply.members),
        skip_assignment=reply.skip_assignment,
        protocols=tuple(protocol.name for protocol in offered),
    )
