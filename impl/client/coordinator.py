"""The abstract coordinator of KIP-795: everything a member of a group does, apart from the group's purpose.

How to use it as a base class: implement `protocol_type`, `metadata`, `on_join_prepare`, `perform_assignment` and
`on_join_complete`; the rest has defaults. Nothing in here does I/O, waits, or reads a clock. The caller

- calls `poll` on behalf of the application and `tick` on behalf of the heartbeat thread, each with the time in ms;
- after every call puts the requests of `take_requests` on the wire and hands every answer to `receive`;
- wakes up again at `next_deadline` (for `tick`) and `next_poll` (for `poll`).

An application that does not poll while ticks go on is a zombie in the making, exactly as with the Java client.
Callbacks run inside `poll` and `close` only. Rules for implementers: `on_join_complete` may see identical arguments
again after it raised; a fencing token for the outside environment comes from `generation_if_stable`, never from
`generation`; leadership is a fact about one generation and must not be remembered across a rebalance.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Final

from rebalance_check.impl.client.calling import Calling
from rebalance_check.impl.client.failures import JoinAttempt, JoinFailure, Retry
from rebalance_check.impl.client.generation import Generation, MemberState
from rebalance_check.impl.client.joining import Joining
from rebalance_check.impl.runtime.metrics import MetricGroup, Metrics, Value
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    ON_JOIN_COMPLETE,
    ON_JOIN_PREPARE,
    ON_LEAVE_PREPARE,
    MemberClosing,
    MemberLeft,
)

MOST_ROUNDS: Final = 1_000
"""More often than this no poll goes round its join loop."""


class Coordinator(Joining):
    """One member of one group (``AbstractCoordinator``)."""

    metric_prefix: ClassVar[str] = "consumer"
    """Of the group of metrics (the argument ``metricGrpPrefix`` of ``AbstractCoordinator``)."""

    _retry_ms = 0

    # ------------------------------------------------------------------------------------------------ the contract

    @abstractmethod
    def on_join_prepare(self, generation_id: int, member_id: str) -> bool:
        """Give up the old generation's grants; the arguments are that generation (-1 and "" after a reset).

        Called before the first JoinGroup of a rebalance and again after every reset. False means "not finished, call
        again, do not join yet". After it raised it is not called again in the same chain (kafka-python: it is).
        """

    @abstractmethod
    def on_join_complete(self, generation_id: int, member_id: str, protocol: str, assignment: bytes) -> None:
        """Apply the assignment of a generation; may be called again with the same arguments after it raised."""

    def on_leave_prepare(self) -> None:
        """The member is about to leave in an orderly way: give up all that it holds."""

    def on_close(self) -> bool:
        """Last work before leaving; False means "not finished, call `close` again"."""
        return True

    def on_poll(self) -> None:
        """The end of every `poll` that found the member active: the place for the application side's periodic work."""

    # ------------------------------------------------------------------------------------------------ identity

    @property
    def state(self) -> MemberState:
        """Where the member stands in the rebalance."""
        return self._state

    @property
    def closed(self) -> bool:
        """Whether `close` has finished."""
        return self._closed

    def generation(self) -> Generation:
        """The present generation, stable or not; changes as soon as JoinGroup is answered."""
        return self._generation

    def generation_if_stable(self) -> Generation | None:
        """The present generation when the member is STABLE, else None."""
        return self._generation if self._state is MemberState.STABLE else None

    def member_id(self) -> str:
        """The member id, "" when the member has none."""
        return self._generation.member_id

    def register_metrics(self, metrics: Metrics) -> None:
        """Register the member's metrics of itself, as ``<prefix>-coordinator-metrics``; users add their own.

        Raises: RebalanceCheckError where metrics of a member with this client id are registered.
        """
        self.metrics.register(self.metric_group(metrics))

    def metric_group(self, metrics: Metrics) -> MetricGroup:
        """The group of the member's metrics."""
        return MetricGroup(metrics, f"{self.metric_prefix}-coordinator-metrics", {"client-id": self.config.client_id})

    def metric_values(self, now_ms: int) -> dict[str, Value]:
        """The member's own measurements at a time in ms, by Kafka's names."""
        metrics = Metrics()
        self.register_metrics(metrics)
        return metrics.by_name(now_ms)

    # ------------------------------------------------------------------------------------------------ the application

    def poll(self, now_ms: int) -> None:
        """The application polls: join, complete, run callbacks, as far as that goes without waiting.

        Raises `GroupError` when the coordinator refuses for good, and any exception of a callback or the assignor.

        Raises `RebalanceCheckError` when the member was closed.
        """
        if self._closed:
            raise RebalanceCheckError(f"{self.member} was closed and cannot poll any more: start a new member")
        self.poll_heartbeat(now_ms)
        if (failure := self._lookup.take_failure()) is not None:
            raise failure
        self._read_answers()
        if self.ensure_active_group(now_ms):
            self.on_poll()

    def next_poll(self) -> int | None:
        """When `poll` can make progress by itself next, in ms (0: at once); None while it waits for an answer."""
        if self._closed:
            return None
        failed = self._failure is not None or self._lookup.failure is not None
        if self._unread or failed or (self._join is not None and self._join.done):
            return 0
        if self.coordinator_unknown():
            return self._lookup.next_ms if self._lookup.next_ms is None else max(self._retry_ms, self._lookup.next_ms)
        if not self.rejoin_needed_or_pending():
            return None
        waiting = (self._join is not None or self._awaits_answers()) and not self._needs_join_prepare
        return None if waiting else self._retry_ms

    def rejoin_needed_or_pending(self) -> bool:
        """Whether the next poll must join; override to add reasons of your own and call this one."""
        return self._rejoin_needed or self._join is not None

    def ensure_active_group(self, now_ms: int) -> bool:
        """Join and complete as far as possible now; True when the member is active and nothing is pending.

        An attempt that is under way is continued, never doubled.

        Raises: a callback's exception, and `RebalanceCheckError` for a loop without end, which is a mistake of ours.
        """
        self._now_ms = now_ms
        rounds = 0
        while self.rejoin_needed_or_pending():
            rounds += 1
            if rounds > MOST_ROUNDS:
                raise RebalanceCheckError(f"{self.member} goes round in its join loop without end: this is our mistake")
            if self._join is not None and self._join.done:
                self._finish(self._join)
                continue
            if now_ms < self._retry_ms or not self._can_prepare() or not self._prepared():
                return False
            if self._join is None and self._ensure_coordinator() and not self._awaits_answers():
                self._send_join()
            return False
        return self._ensure_coordinator()

    def _can_prepare(self) -> bool:
        """Whether `on_join_prepare` may be called, again where it was not finished: with a coordinator only."""
        return self._ensure_coordinator()

    def _read_answers(self) -> None:
        unread, self._unread = self._unread, []
        for sent, reply in unread:
            sent.handle(sent, reply)

    def _prepared(self) -> bool:
        """Run `on_join_prepare` once per chain; the flag falls first, so an exception is no invitation to repeat.

        In kafka-python it is one: there the flag falls after the call.
        """
        if not self._needs_join_prepare:
            return True
        self._needs_join_prepare = False
        of, prepared = self._generation, not self._repeats_preparation()
        try:
            with Calling(self.recorder, self.member, ON_JOIN_PREPARE, of) as call, self.monitor.released():
                prepared = call.finished = self.on_join_prepare(of.generation_id, of.member_id)
        finally:
            self._needs_join_prepare = self._needs_join_prepare or not prepared
        return prepared

    def _finish(self, attempt: JoinAttempt) -> None:
        if attempt.failure is not None:
            self._recover(attempt.failure)
        elif self._is_overtaken() or attempt.assignment is None:
            # the heartbeat side left the group between the answer and this poll
            self._join = None
            self._reset(keep_member=False, reason="")
        else:
            of, assignment = self._completes(), attempt.assignment
            with Calling(self.recorder, self.member, ON_JOIN_COMPLETE, of, assignment), self.monitor.released():
                self.on_join_complete(of.generation_id, of.member_id, of.protocol or "", assignment)
            self._join = None
            self._needs_join_prepare = True

    def _completes(self) -> Generation:
        """The generation that the finished attempt led to, which `on_join_complete` is called with."""
        return self._generation

    def _is_overtaken(self) -> bool:
        """Whether the membership that the finished attempt led to is over already."""
        return self._generation.reset or self._state is not MemberState.STABLE

    def _recover(self, failure: JoinFailure) -> None:
        """Start the next attempt at once, after the backoff, or never; `on_join_prepare` is not run again by itself."""
        self._join = None
        self._rejoin_needed = True
        if failure.retry is Retry.AFTER_BACKOFF:
            self._retry_ms = self._now_ms + self.config.retry_backoff_ms
        elif failure.cause is not None:
            raise failure.cause

    # ------------------------------------------------------------------------------------------------ leaving

    def maybe_leave_group(self, reason: str, now_ms: int) -> None:
        """Leave without closing: `on_leave_prepare`, LeaveGroup where there is something to leave, full reset."""
        self._now_ms = now_ms
        self._prepare_to_leave()
        self._leave(reason, emits_loss=True)

    def _prepare_to_leave(self) -> None:
        with Calling(self.recorder, self.member, ON_LEAVE_PREPARE, self._generation):
            self.on_leave_prepare()

    def close(self, now_ms: int) -> bool:
        """End the membership: last work, `on_leave_prepare`, LeaveGroup, reset. True when done, else call it again.

        Does not wait for a JoinGroup in flight (Java with a timeout of 0): the coordinator may keep a member
        without a process until its session expires. No callback runs after it returned True.
        """
        self._now_ms = now_ms
        if self._closed:
            return True
        if not self._closing:
            self._closing = True
            self.recorder.emit(MemberClosing(member=self.member))
        if not self.on_close():
            return False
        self._prepare_to_leave()
        if self.config.leave_on_close:
            self._leave("the member is being closed", emits_loss=False)
        else:
            self._reset(keep_member=False, reason="")
        self._closed = True
        self.recorder.emit(MemberLeft(member=self.member))
        return True
