"""The heartbeat side of a member: heartbeats, the session, the poll interval, and leaving.

In the Java client this is a thread of its own. It goes on while the application is stuck between two polls, which is
how a member can be alive for the coordinator and useless, or out of the group and still processing (a zombie).
"""

from __future__ import annotations

from typing import ClassVar, Final

from rebalance_check.impl.client.core import CoordinatorCore, Sent
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.protocol.messages import GroupReply, HeartbeatRequest, LeaveGroupRequest, MemberIdentity
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error

LONGEST_REASON: Final = 255
"""Clients cut the reasons that they give to so many characters (KIP-800)."""

_JOINED = (MemberState.COMPLETING_REBALANCE, MemberState.STABLE)
_MEMBER_REFUSED = frozenset({Error.ILLEGAL_GENERATION, Error.UNKNOWN_MEMBER_ID, Error.FENCED_INSTANCE_ID})


class Heartbeating(CoordinatorCore):
    """`tick` and the answers to Heartbeat and LeaveGroup."""

    poll_timeout_reason: ClassVar[str] = "poll timeout expired"
    """The reason in LeaveGroup when the application did not poll in time."""

    def tick(self, now_ms: int) -> None:
        """The heartbeat thread wakes up: find the coordinator, end session or poll interval, or send a heartbeat.

        The end of the session only makes the client look for its coordinator; it resets nothing and revokes nothing.
        """
        self._now_ms = now_ms
        if not self._heartbeats_enabled() or not self._ensure_coordinator():
            return
        if now_ms >= self._timers.session_ms:
            self._forget_coordinator()
        elif now_ms >= self._timers.poll_ms:
            self.on_poll_timeout()
            self._leave(self.poll_timeout_reason, emits_loss=True)
        elif now_ms >= self._timers.heartbeat_ms:
            self._send_heartbeat()

    def next_deadline(self) -> int | None:
        """When `tick` has something to do next, in ms; None while heartbeats are off (see `next_poll`),
        and while the look-up of the coordinator waits for its answer."""
        if not self._heartbeats_enabled():
            return None
        return self._lookup.next_ms if self.coordinator_unknown() else self._timers.next_ms

    def poll_heartbeat(self, now_ms: int) -> None:
        """The application is alive: restart the poll interval, and raise the error that ended the heartbeats, once."""
        self._now_ms = now_ms
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        self._timers.polled(now_ms)

    def time_to_next_heartbeat(self, now_ms: int) -> int | None:
        """Milliseconds until the next heartbeat is due, None before joining (Kafka's ``timeToNextHeartbeat``)."""
        return max(0, self._timers.heartbeat_ms - now_ms) if self._heartbeats_enabled() else None

    def on_poll_timeout(self) -> None:
        """Notification, on the heartbeat side, that the application did not poll in time and the member will leave."""

    def _heartbeats_enabled(self) -> bool:
        """No heartbeats while a JoinGroup is parked (the coordinator needs none then) or after a fatal error."""
        if self._rests_until_stable():
            return False
        return self._state in _JOINED and self._failure is None and not self._closed

    # ------------------------------------------------------------------------------------------------ heartbeats

    def _send_heartbeat(self) -> None:
        self._timers.sent(self._now_ms)
        self.metrics.last_heartbeat_ms = self._now_ms
        self._send(
            HeartbeatRequest(
                group_id=self.config.group_id,
                version=self.config.heartbeat_version,
                client_id=self.config.client_id,
                generation_id=self._generation.generation_id,
                member_id=self._generation.member_id,
                group_instance_id=self.config.group_instance_id,
            ),
            self._heartbeat_answered,
        )

    def _heartbeat_answered(self, sent: Sent, reply: GroupReply | None) -> None:
        """``HeartbeatResponseHandler``. An error of an older generation counts as a success: the session is alive."""
        error = None if reply is None else reply.error
        if reply is not None:
            self.metrics.heartbeat.record(self._now_ms - sent.at_ms, self._now_ms)
        if error is Error.NONE or (error is Error.REBALANCE_IN_PROGRESS and self._state is not MemberState.STABLE):
            self._timers.answered(self._now_ms)
        elif error is Error.REBALANCE_IN_PROGRESS:
            self.request_rejoin("group is already rebalancing")
            self._timers.answered(self._now_ms)
        elif error in {Error.COORDINATOR_NOT_AVAILABLE, Error.NOT_COORDINATOR}:
            self._timers.failed(self._now_ms)
            self._forget_coordinator()
        elif error is not None and error in _MEMBER_REFUSED:
            self._heartbeat_refused(sent, error)
        else:
            self._timers.failed(self._now_ms)

    def _heartbeat_refused(self, sent: Sent, error: Error) -> None:
        if not self._unchanged(sent):
            self._timers.answered(self._now_ms)
            return
        self._timers.failed(self._now_ms)
        self._reset(keep_member=self._keeps_member_id(error), reason=error.name)
        if error is Error.FENCED_INSTANCE_ID:
            self._failure = GroupError(Api.HEARTBEAT, error, "another process uses this group instance id")

    def request_rejoin(self, reason: str) -> None:
        """Join again at the next poll; membership stays as it is."""
        self._rejoin_needed = True
        self._rejoin_reason = reason[:LONGEST_REASON]

    # ------------------------------------------------------------------------------------------------ leaving

    def _leave(self, reason: str, *, emits_loss: bool) -> None:
        """Send LeaveGroup where there is something to leave, without waiting for its answer, and forget the membership.

        Static members never send it. ``emits_loss``: the loss of the membership is an event of its own.
        """
        sendable = self._state is not MemberState.UNJOINED and self._generation.member_id != ""
        if sendable and not self.coordinator_unknown() and self.config.group_instance_id is None:
            self._send(
                LeaveGroupRequest(
                    group_id=self.config.group_id,
                    version=self.config.leave_group_version,
                    client_id=self.config.client_id,
                    members=(MemberIdentity(self._generation.member_id, None, reason[:LONGEST_REASON]),),
                ),
                self._leave_answered,
            )
        self._reset(keep_member=False, reason=reason if emits_loss else "")

    def _leave_answered(self, sent: Sent, reply: GroupReply | None) -> None:
        """Only reported: the member is gone, whether the coordinator agrees or not."""
