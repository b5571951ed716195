"""What every part of a client coordinator shares: membership, requests in flight, and the way to the coordinator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.events import request_answered, request_sent
from rebalance_check.impl.client.failures import GroupError, JoinAttempt, JoinFailure, Retry
from rebalance_check.impl.client.generation import NO_MEMBERSHIP, Generation, MemberState
from rebalance_check.impl.client.metrics import CoordinatorMetrics
from rebalance_check.impl.client.timers import HeartbeatTimers
from rebalance_check.impl.protocol.messages import GroupReply, GroupRequest, JoinGroupRequest
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import MembershipLost
from rebalance_check.model.vocabulary.ids import NO_GENERATION

Handle = Callable[["Sent", GroupReply | None], None]
"""What reads an answer; None is an unknown outcome."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request in flight, the generation that the member held when it was sent, and when that was."""

    correlation_id: int
    request: GroupRequest
    generation: Generation
    handle: Handle
    at_ms: int = 0


def always_found() -> bool:
    """The coordinator is found at the first look-up."""
    return True


class CoordinatorCore:
    """State of one member and the two ways in which it changes: resets, and the loss of the coordinator.

    Every public entry sets ``_now_ms``; nothing in here reads a clock of its own.
    """

    def __init__(
        self,
        config: ClientConfig,
        recorder: Recorder,
        *,
        member: str,
        find_coordinator: Callable[[], bool] = always_found,
    ) -> None:
        self.config = config
        self.recorder = recorder
        self.member = member
        self.metrics = CoordinatorMetrics()
        self._find_coordinator = find_coordinator
        self._now_ms = 0
        self._state = MemberState.UNJOINED
        self._generation = NO_MEMBERSHIP
        self._rejoin_needed = True
        self._rejoin_reason: str | None = None
        self._needs_join_prepare = True
        self._join: JoinAttempt | None = None
        self._closed = False
        self._timers = HeartbeatTimers(config)
        self._coordinator_known = False
        self._discover_ms = 0
        self._failure: GroupError | None = None
        self._next_correlation_id = 0
        self._in_flight: dict[int, Sent] = {}
        self._outbox: list[tuple[int, GroupRequest]] = []
        self._unread: list[tuple[Sent, GroupReply]] = []

    # ------------------------------------------------------------------------------------------------ membership

    def _unchanged(self, sent: Sent) -> bool:
        """Whether an answer still concerns the present generation; if not, its error concerns an earlier one."""
        return sent.generation == self._generation

    def _reset(self, *, keep_member: bool, reason: str) -> None:
        """Fall out of the generation (``resetStateAndRejoin``); with an empty ``reason`` no event is emitted."""
        old = self._generation
        self._state = MemberState.UNJOINED
        self._generation = Generation(NO_GENERATION, old.member_id if keep_member else "", None)
        self._rejoin_needed = True
        self._needs_join_prepare = True
        if reason and not old.reset:
            self.recorder.emit(
                MembershipLost(member=self.member, generation=old.generation_id, member_id=old.member_id, reason=reason)
            )

    def _fail_join(self, retry: Retry, cause: Exception | None = None) -> None:
        """End the outstanding attempt; the join loop reads the failure at the next poll."""
        if self._join is not None:
            self.metrics.failed_rebalance.record(0, self._now_ms)
            self._join.failure = JoinFailure(retry, cause)

    # ------------------------------------------------------------------------------------------------ requests

    def _send(self, request: GroupRequest, handle: Handle) -> None:
        correlation_id = self._next_correlation_id
        self._next_correlation_id += 1
        self._in_flight[correlation_id] = Sent(correlation_id, request, self._generation, handle, self._now_ms)
        self._outbox.append((correlation_id, request))
        self.recorder.emit(request_sent(self.member, correlation_id, request))

    def take_requests(self) -> list[tuple[int, GroupRequest]]:
        """The requests to send now, oldest first, each under its correlation id; call this after every other call."""
        taken, self._outbox = self._outbox, []
        return taken

    def receive(self, correlation_id: int, reply: GroupReply | None, now_ms: int) -> None:
        """An answer arrived, or (None) the connection broke or timed out and the outcome stays unknown.

        An answer to a request that was given up is dropped. JoinGroup answers wait for the application's next `poll`,
        all others are read at once, on whatever thread the network runs.
        """
        self._now_ms = now_ms
        sent = self._in_flight.pop(correlation_id, None)
        if sent is None:
            return
        if reply is None:
            self._in_flight[correlation_id] = sent
            self._forget_coordinator()
            return
        self._emit_answer(sent, reply)
        if isinstance(sent.request, JoinGroupRequest):
            self._unread.append((sent, reply))
        else:
            sent.handle(sent, reply)

    def _emit_answer(self, sent: Sent, reply: GroupReply | None) -> None:
        self.recorder.emit(
            request_answered(
                self.member,
                sent.correlation_id,
                sent.request,
                reply,
                claims_in=self.describe_metadata,
                work_in=self.describe_assignment,
            )
        )

    def describe_metadata(self, metadata: bytes) -> tuple[str, ...]:  # noqa: ARG002 - for users to override
        """What a member claims in its JoinGroup metadata, as events name it. Must not raise."""
        return ()

    def describe_assignment(self, assignment: bytes) -> tuple[str, ...]:  # noqa: ARG002 - for users to override
        """What a SyncGroup answer assigns, as events name it. Must not raise."""
        return ()

    # ------------------------------------------------------------------------------------------------ the coordinator

    def coordinator_unknown(self) -> bool:
        """Whether the coordinator must be looked up before anything can be sent."""
        return not self._coordinator_known

    def _ensure_coordinator(self) -> bool:
        """Look the coordinator up, at most once per retry backoff; finding it starts the session anew."""
        if self._coordinator_known:
            return True
        if self._now_ms < self._discover_ms:
            return False
        if not self._find_coordinator():
            self._discover_ms = self._now_ms + self.config.retry_backoff_ms
            return False
        self._coordinator_known = True
        self._timers.session_alive(self._now_ms)
        return True

    def _forget_coordinator(self) -> None:
        """Disconnect: every request in flight has an unknown outcome, and the coordinator is looked up again."""
        self._coordinator_known = False
        self._discover_ms = self._now_ms + self.config.retry_backoff_ms
        given_up, self._in_flight = self._in_flight, {}
        self._outbox = [entry for entry in self._outbox if entry[0] not in given_up]
        for sent in given_up.values():
            self._emit_answer(sent, None)
            sent.handle(sent, None)
