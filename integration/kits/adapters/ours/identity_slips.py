"""Mistakes with member ids, generations and instance ids."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rebalance_check.impl.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    MemberIdentity,
    MemberReply,
    MemberRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from rebalance_check.integration.kits.adapters.ours.slipping import Slip
from rebalance_check.model.vocabulary.errors import Error

WithInstance = JoinGroupRequest | SyncGroupRequest | HeartbeatRequest | OffsetCommitRequest

SETTLED_AFTER: Final = 3
"""A member that sends its third heartbeat is settled."""


class ForgetsId(Slip):
    """The first time that it joins again it does so without its member id."""

    _did = False

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """Drop a member id under which it belongs to a generation."""
        if self._did or self.consumer.generation().reset:
            return [join]
        self._did = True
        return [replace(join, member_id="")]


class IgnoresRequiredId(Slip):
    """It joins without the member id that it is assigned, once."""

    _did = False

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """Drop the id that was required."""
        if self._did or not join.member_id:
            return [join]
        self._did = True
        return [replace(join, member_id="")]


class KeepsLostId(Slip):
    """It goes on joining under the member id that the coordinator does not know any more."""

    _lost = ""
    _left = 2
    """The first of these JoinGroups might have been on its way, the second one was not."""

    def gets(self, reply: MemberReply) -> MemberReply:
        """Remember the id that is lost."""
        if reply.error is Error.UNKNOWN_MEMBER_ID and not self._lost:
            self._lost = self.consumer.member_id()
        return reply

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """Put it back."""
        if join.member_id or not self._lost or not self._left:
            return [join]
        self._left -= 1
        return [replace(join, member_id=self._lost)]


class StaleGeneration(Slip):
    """One of its heartbeats is for the generation before its own."""

    _heartbeats = 0

    def heartbeat(self, heartbeat: HeartbeatRequest) -> Sequence[MemberRequest]:
        """Alter one of them."""
        self._heartbeats += 1
        is_it = self._heartbeats == SETTLED_AFTER
        return [replace(heartbeat, generation_id=heartbeat.generation_id - 1) if is_it else heartbeat]


class HidesInstance(Slip):
    """Its heartbeats have no instance id."""

    def heartbeat(self, heartbeat: HeartbeatRequest) -> Sequence[MemberRequest]:
        """Drop it."""
        return [replace(heartbeat, group_instance_id=None)]


class NewInstance(Slip):
    """Each run of it has an instance id of its own."""

    def __init__(self) -> None:
        self._run = f"-{time.monotonic_ns()}"

    def _longer(self, request: WithInstance) -> Sequence[MemberRequest]:
        return [replace(request, group_instance_id=f"{request.group_instance_id}{self._run}")]

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """With the run's instance id."""
        return self._longer(join)

    def sync(self, sync: SyncGroupRequest) -> Sequence[MemberRequest]:
        """With the run's instance id."""
        return self._longer(sync)

    def heartbeat(self, heartbeat: HeartbeatRequest) -> Sequence[MemberRequest]:
        """With the run's instance id."""
        return self._longer(heartbeat)

    def commit(self, commit: OffsetCommitRequest) -> Sequence[MemberRequest]:
        """With the run's instance id."""
        return self._longer(commit)


class StaticLeaves(Slip):
    """It leaves the group although it is a static member."""

    def ends(self) -> None:
        """Send a LeaveGroup of its own."""
        config = self.consumer.config
        leave = LeaveGroupRequest(
            group_id=config.group_id,
            version=config.leave_group_version,
            client_id=config.client_id,
            members=(MemberIdentity(self.consumer.member_id(), config.group_instance_id),),
        )
        self.consumer.send_at_once(leave)


class FightsBack(Slip):
    """It takes a fenced instance id for a lost member id, and joins again."""

    def gets(self, reply: MemberReply) -> MemberReply:
        """FENCED_INSTANCE_ID becomes UNKNOWN_MEMBER_ID."""
        is_fenced = reply.error is Error.FENCED_INSTANCE_ID
        return replace(reply, error=Error.UNKNOWN_MEMBER_ID) if is_fenced else reply
