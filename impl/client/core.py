"""The common base of a client coordinator's parts: membership, requests in flight, and the way to the coordinator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from rebalance_check.impl.client.config import ClientConfig, Contract
from rebalance_check.impl.client.events import look_up_answered, request_answered, request_sent
from rebalance_check.impl.client.failures import GroupError, JoinAttempt, JoinFailure, Retry
from rebalance_check.impl.client.generation import NO_MEMBERSHIP, Generation, MemberState
from rebalance_check.impl.client.lookup import CoordinatorLookup, Node
from rebalance_check.impl.client.metrics import CoordinatorMetrics
from rebalance_check.impl.client.monitor import Monitor, NoMonitor
from rebalance_check.impl.client.timers import HeartbeatTimers
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorReply,
    FindCoordinatorRequest,
    GroupReply,
    GroupRequest,
    JoinGroupRequest,
    MemberReply,
    MemberRequest,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import CoordinatorFound, CoordinatorLost, LookUpSent, MembershipLost
from rebalance_check.model.vocabulary.ids import NO_GENERATION

Handle = Callable[["Sent", GroupReply | None], None]
"""The reader of an answer; None is an unknown outcome."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request in flight, the generation that the member held when it was sent, and when that was."""

    correlation_id: int
    request: GroupRequest
    generation: Generation
    handle: Handle
    at_ms: int = 0


class CoordinatorCore:
    """State of one member and the two ways in which it changes: resets, and the loss of the coordinator.

    Every public entry sets ``_now_ms``; nothing in here reads a clock of its own. ``random`` decides the jitter of
    backoffs, without it they have none.
    """

    def __init__(
        self,
        config: ClientConfig,
        recorder: Recorder,
        *,
        member: str,
        random: Random | None = None,
    ) -> None:
        self.config = config
        self.recorder = recorder
        self.member = member
        self.metrics = CoordinatorMetrics()
        self.monitor: Monitor = NoMonitor()
        self._now_ms = 0
        self._state = MemberState.UNJOINED
        self._generation = NO_MEMBERSHIP
        self._rejoin_needed = True
        self._rejoin_reason: str | None = None
        self._needs_join_prepare = True
        self._join: JoinAttempt | None = None
        self._closing = False
        self._closed = False
        self._timers = HeartbeatTimers(config, random)
        self._lookup = CoordinatorLookup(config, random)
        self._failure: GroupError | None = None
        self._next_correlation_id = 0
        self._in_flight: dict[int, Sent] = {}
        self._outbox: list[tuple[int, MemberRequest]] = []
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

    def _keeps_member_id(self, error: Error) -> bool:
        """Whether a member that was refused joins again under its id."""
        return error is Error.ILLEGAL_GENERATION and self.config.contract is Contract.JAVA

    def _rests_until_stable(self) -> bool:
        """Whether heartbeats are off, and no time-out counts, until SyncGroup is answered."""
        return self.config.contract is Contract.KAFKA_PYTHON and self._state is not MemberState.STABLE

    def _repeats_preparation(self) -> bool:
        """Whether `on_join_prepare` is called again in a chain in which it raised."""
        return self.config.contract is Contract.KAFKA_PYTHON

    # ------------------------------------------------------------------------------------------------ requests

    def _awaits_answers(self) -> bool:
        """Whether no JoinGroup may be sent yet, because of a request in flight."""
        return self.config.contract is Contract.KAFKA_PYTHON and bool(self._in_flight)

    def _send(self, request: GroupRequest, handle: Handle) -> None:
        with self.monitor:
            correlation_id = self._enqueue(request)
            self._in_flight[correlation_id] = Sent(correlation_id, request, self._generation, handle, self._now_ms)
        self.recorder.emit(
            request_sent(
                self.member,
                correlation_id,
                request,
                claims_in=self.describe_metadata,
                claimed_in=self.describe_claimed_generation,
            )
        )

    def _enqueue(self, request: MemberRequest) -> int:
        correlation_id = self._next_correlation_id
        self._next_correlation_id += 1
        self._outbox.append((correlation_id, request))
        return correlation_id

    def take_requests(self) -> list[tuple[int, MemberRequest]]:
        """The requests to send now, oldest first, each under its correlation id; call this after every other call.

        FindCoordinator goes to any node, all others to `coordinator`.
        """
        taken, self._outbox = self._outbox, []
        return taken

    def receive(self, correlation_id: int, reply: MemberReply | None, now_ms: int) -> None:
        """An answer arrived, or (None) the connection broke or timed out and the outcome stays unknown.

        An answer to a request that was given up is dropped. JoinGroup answers wait for the application's next `poll`,
        all others are read at once, on whichever thread the network runs.
        """
        self._now_ms = now_ms
        if isinstance(reply, FindCoordinatorReply) or correlation_id == self._lookup.in_flight:
            self._look_up_answered(correlation_id, reply)
            return
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
        """A member's claims in its JoinGroup metadata, as events name them. Must not raise."""
        return ()

    def describe_claimed_generation(self, metadata: bytes) -> int | None:  # noqa: ARG002 - for users to override
        """The generation of a member's claims in its JoinGroup metadata, None without one. Must not raise."""
        return None

    def describe_assignment(self, assignment: bytes) -> tuple[str, ...]:  # noqa: ARG002 - for users to override
        """The assignment of a SyncGroup answer, as events name it. Must not raise."""
        return ()

    # ------------------------------------------------------------------------------------------------ the coordinator

    def coordinator_unknown(self) -> bool:
        """Whether the coordinator must be looked up before anything can be sent."""
        return self._lookup.node is None

    @property
    def coordinator(self) -> Node | None:
        """The node that coordinates the group, None while it is unknown."""
        return self._lookup.node

    def ensure_coordinator_ready(self, now_ms: int) -> bool:
        """Whether the coordinator is known; if not, look it up, unless a look-up or its backoff is under way."""
        self._now_ms = now_ms
        return self._ensure_coordinator()

    def coordinator_disconnected(self, now_ms: int) -> None:
        """The connection to the coordinator broke, or could not be opened: it is looked up again."""
        self._now_ms = now_ms
        if self._lookup.node is not None:
            self._forget_coordinator()

    def _ensure_coordinator(self) -> bool:
        """As `ensure_coordinator_ready`, at the present time. Any node answers a look-up; one is in flight at most."""
        if self._lookup.is_due(self._now_ms):
            config = self.config
            request = FindCoordinatorRequest(
                group_id=config.group_id, version=config.find_coordinator_version, client_id=config.client_id
            )
            self._lookup.in_flight = self._enqueue(request)
            self.recorder.emit(LookUpSent(member=self.member, request=self._lookup.in_flight))
        return self._lookup.node is not None

    def _look_up_answered(self, correlation_id: int, reply: MemberReply | None) -> None:
        """``FindCoordinatorResponseHandler``: finding the coordinator starts the session anew."""
        if correlation_id != self._lookup.in_flight:
            return
        answer = reply if isinstance(reply, FindCoordinatorReply) else None
        self._lookup.answered(answer, self._now_ms)
        self.recorder.emit(look_up_answered(self.member, correlation_id, answer))
        if self._lookup.node is not None:
            self._timers.session_alive(self._now_ms)
            self.recorder.emit(CoordinatorFound(member=self.member, node=self._lookup.node.node_id))

    def _forget_coordinator(self) -> None:
        """Disconnect: every request in flight has an unknown outcome, and the coordinator is looked up again."""
        self._lookup.lost(self._now_ms)
        if not self._closed:
            self.recorder.emit(CoordinatorLost(member=self.member))
        given_up, self._in_flight = self._in_flight, {}
        self._outbox = [entry for entry in self._outbox if entry[0] not in given_up]
        for sent in given_up.values():
            self._emit_answer(sent, None)
            sent.handle(sent, None)
