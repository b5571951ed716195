"""Mistakes with the steps of a rebalance, with heartbeats, and with a coordinator that moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rebalance_check.impl.protocol.messages import (
    HeartbeatReply,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    MemberReply,
    MemberRequest,
    SyncGroupRequest,
)
from rebalance_check.integration.kits.adapters.ours.identity_slips import SETTLED_AFTER
from rebalance_check.integration.kits.adapters.ours.slipping import Slip, SlippingConsumer
from rebalance_check.model.vocabulary.errors import Error

_FOR_NOW: Final = frozenset(
    {Error.COORDINATOR_LOAD_IN_PROGRESS, Error.COORDINATOR_NOT_AVAILABLE, Error.NOT_COORDINATOR}
)


def heartbeat_of(consumer: SlippingConsumer) -> HeartbeatRequest:
    """A heartbeat for what the consumer is now."""
    generation = consumer.generation()
    return HeartbeatRequest(
        group_id=consumer.config.group_id,
        version=consumer.config.heartbeat_version,
        client_id=consumer.config.client_id,
        generation_id=generation.generation_id,
        member_id=generation.member_id,
        group_instance_id=consumer.config.group_instance_id,
    )


class JoinsTwice(Slip):
    """It sends its first JoinGroup with a member id twice."""

    _did = False

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """Repeat it."""
        if self._did or not join.member_id:
            return [join]
        self._did = True
        return [join, join]


class IgnoresRebalance(Slip):
    """REBALANCE_IN_PROGRESS means nothing to it."""

    def gets(self, reply: MemberReply) -> MemberReply:
        """Take the error off."""
        return replace(reply, error=Error.NONE) if reply.error is Error.REBALANCE_IN_PROGRESS else reply


class NeverSyncs(Slip):
    """It does not ask for its assignment."""

    def sync(self, sync: SyncGroupRequest) -> Sequence[MemberRequest]:
        """Send something else instead."""
        del sync
        return []


class JoinsAgain(Slip):
    """It joins again once it is settled, for no reason."""

    _heartbeats = 0

    def heartbeat(self, heartbeat: HeartbeatRequest) -> Sequence[MemberRequest]:
        """At one of its heartbeats."""
        self._heartbeats += 1
        if self._heartbeats == SETTLED_AFTER:
            self.consumer.request_rejoin("for no reason")
        return [heartbeat]


class JoinsAfterMove(Slip):
    """It joins again because its coordinator moved."""

    def gets(self, reply: MemberReply) -> MemberReply:
        """A refusal becomes a reason to join."""
        if reply.error in _FOR_NOW:
            self.consumer.request_rejoin("the coordinator moved")
        return reply


class IgnoresNotCoordinator(Slip):
    """NOT_COORDINATOR means nothing to it."""

    def gets(self, reply: MemberReply) -> MemberReply:
        """Take the error off."""
        return replace(reply, error=Error.NONE) if reply.error is Error.NOT_COORDINATOR else reply


class HotLoop(Slip):
    """It repeats a heartbeat that is refused for now at once."""

    def gets(self, reply: MemberReply) -> MemberReply:
        """Send it again."""
        if isinstance(reply, HeartbeatReply) and reply.error in _FOR_NOW:
            self.consumer.send_at_once(heartbeat_of(self.consumer))
        return reply


class EarlyHeartbeat(Slip):
    """It sends a heartbeat before it is a member."""

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """Before each JoinGroup of a consumer that belongs to no generation."""
        return [heartbeat_of(self.consumer), join] if self.consumer.generation().reset else [join]


class HeartbeatsWhileJoining(Slip):
    """It sends a heartbeat behind its JoinGroup, without waiting for the reply."""

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """As the member that it was before."""
        return [join] if self.consumer.generation().reset else [join, heartbeat_of(self.consumer)]


class SkipsHeartbeats(Slip):
    """Once it is settled, it sends no heartbeats for longer than its session timeout."""

    _heartbeats = 0

    def heartbeat(self, heartbeat: HeartbeatRequest) -> Sequence[MemberRequest]:
        """Skip as many as fit into two sessions."""
        self._heartbeats += 1
        config = self.consumer.config
        skipped = 2 * config.session_timeout_ms // config.heartbeat_interval_ms
        return [] if SETTLED_AFTER <= self._heartbeats < SETTLED_AFTER + skipped else [heartbeat]


class Stays(Slip):
    """It ends without LeaveGroup."""

    def leave(self, leave: LeaveGroupRequest) -> Sequence[MemberRequest]:
        """Send nothing instead."""
        del leave
        return []
