"""`GroupCoordinator`: the entry point to the coordinator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import NamedTuple

from rebalance_check.impl.coordinator import describe as describing
from rebalance_check.impl.coordinator.config import GroupConfig
from rebalance_check.impl.coordinator.emit import RecorderFor
from rebalance_check.impl.coordinator.failover import depose, die, forget, load, unload
from rebalance_check.impl.coordinator.hash_order import Choices
from rebalance_check.impl.coordinator.heartbeat import heartbeat, on_session_timer
from rebalance_check.impl.coordinator.join import join_group
from rebalance_check.impl.coordinator.leave import leave_group
from rebalance_check.impl.coordinator.logs import GroupLog, ImmediateLog
from rebalance_check.impl.coordinator.offset_expiry import delete_what_is_old
from rebalance_check.impl.coordinator.offsets import (
    end_transaction,
    forget_topic,
    offset_commit,
    offset_delete,
    offset_fetch,
)
from rebalance_check.impl.coordinator.rebalance import on_join_timer, on_sync_timer
from rebalance_check.impl.coordinator.records import Record
from rebalance_check.impl.coordinator.shard import Answer, Numbers, Shard
from rebalance_check.impl.coordinator.sync import sync_group
from rebalance_check.impl.coordinator.timers import Timer, TimerKey, TimerKind
from rebalance_check.impl.coordinator.validation import Phase, phase_error, refusal
from rebalance_check.impl.coordinator.writes import on_write_timer
from rebalance_check.impl.protocol.messages import (
    DescribedGroup,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListedGroup,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
)
from rebalance_check.model.vocabulary.errors import Error


class GroupView(NamedTuple):
    """A group from inside: ``leader`` is a member id; leader and protocol are empty where there is none."""

    generation: int
    leader: str
    protocol_name: str
    pending_ids: frozenset[str]


class GroupCoordinator:
    """A coordinator of classic groups, driven by hand: it has no clock, no thread, no socket and no randomness.

    ``config`` are the broker's settings, ``new_member_id`` makes a new member id from a prefix (the client id, or
    the instance id of a static member), ``recorder_for`` gives the recorder of a group (None: no events),
    ``log`` takes the records (default: in memory, committed at once), ``choices`` resolves what Kafka leaves to hash
    order, ``numbers`` are shared by the coordinators of one cluster (default: it is alone).

    Time is in ms, any origin, and must not run backwards. Timers that are due fire before a request is handled.
    """

    __slots__ = ("_cleanup_ms", "_epoch", "_phase", "_shard")

    def __init__(
        self,
        config: GroupConfig,
        *,
        new_member_id: Callable[[str], str],
        recorder_for: RecorderFor | None = None,
        log: GroupLog | None = None,
        choices: Choices | None = None,
        numbers: Numbers | None = None,
    ) -> None:
        self._shard = Shard(
            config,
            new_member_id=new_member_id,
            recorder_for=recorder_for,
            log=log or ImmediateLog(),
            choices=choices or Choices(),
            numbers=numbers or Numbers(),
        )
        self._phase = Phase.ACTIVE
        self._epoch = -1
        self._cleanup_ms: int | None = None

    @property
    def config(self) -> GroupConfig:
        """The broker's settings."""
        return self._shard.config

    @property
    def log(self) -> GroupLog:
        """Where the records go."""
        return self._shard.log

    def handle(self, token: Hashable, request: GroupRequest, now_ms: int) -> list[Answer]:
        """Handle a request that arrived at ``now_ms``: the answers that are due now, in order, each with its token.

        The answer to this request may be among them or come later, and others that waited may come first. A JoinGroup
        or SyncGroup that a later one of the same member supersedes is never answered, nor is the parked SyncGroup of
        a member that leaves.
        """
        self._fire_until(now_ms)
        refused = refusal(self._shard.config, self._phase, request)
        ticket = self._shard.admit(token, request)
        if refused is None:
            self._dispatch(ticket, request)
        else:
            self._shard.answer(ticket, refused)
        self._fire_until(now_ms)
        return self._shard.take_answers()

    def advance(self, now_ms: int) -> list[Answer]:
        """Let time pass until ``now_ms``: the answers that the timers cause, in order."""
        self._fire_until(now_ms)
        return self._shard.take_answers()

    def timers(self) -> tuple[Timer, ...]:
        """Every timer that is armed, in order of deadline, then of arming."""
        return self._shard.timers.armed()

    def next_deadline(self) -> int | None:
        """When `advance` has something to do next, in ms; None when nothing is armed. Housekeeping does not count."""
        return self._shard.timers.next_deadline()

    def describe(self, group_id: str, version: int = 5) -> DescribedGroup:
        """DescribeGroups for one group; an absent one is Dead (from v6 on with GROUP_ID_NOT_FOUND)."""
        error = phase_error(self._phase)
        if error is not Error.NONE:
            return DescribedGroup(error=error, group_id=group_id, state="", protocol_type="", protocol_name="")
        return describing.describe(self._shard, group_id, version)

    def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> tuple[ListedGroup, ...]:
        """ListGroups, sorted by group id: those in one of ``states`` and of one of ``types``; none given: all."""
        return describing.list_groups(self._shard, states, types)

    def delete(self, group_id: str) -> Error:
        """DeleteGroups for one group: only an Empty one is deleted."""
        error = phase_error(self._phase)
        return error if error is not Error.NONE else describing.delete(self._shard, group_id)

    def forget_topic(self, topic: str) -> None:
        """A topic was deleted: no group has offsets of it any more."""
        if self._phase is Phase.ACTIVE:
            forget_topic(self._shard, topic)

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> Error:
        """The marker of a producer's transaction (WriteTxnMarkers): its offsets count from now on, or never did."""
        error = phase_error(self._phase)
        if error is not Error.NONE:
            return error
        return end_transaction(self._shard, producer_id, is_committed=is_committed)

    def expire_session(self, group_id: str, member_id: str, now_ms: int) -> list[Answer]:
        """Let the session of one member, or of a pending id, run out now, as if its time had come.

        For schedules that say who expires: time itself would not spare the others. Nothing happens when no session of
        that id runs.
        """
        self._fire_until(now_ms)
        group = self._shard.groups.get(group_id)
        key = TimerKey(TimerKind.SESSION, group_id, member_id)
        if group is not None and key in self._shard.timers:
            self._shard.timers.cancel(key)
            on_session_timer(self._shard, group, member_id)
        self._fire_until(now_ms)
        return self._shard.take_answers()

    def expire_join(self, group_id: str, now_ms: int) -> list[Answer]:
        """Let the timer of the join phase run out now, as if its time had come; nothing happens where none runs."""
        return self._expire(TimerKey(TimerKind.JOIN, group_id), now_ms)

    def expire_sync(self, group_id: str, now_ms: int) -> list[Answer]:
        """Let the deadline by which all must have synced pass now; nothing happens where none runs."""
        return self._expire(TimerKey(TimerKind.SYNC, group_id), now_ms)

    def _expire(self, key: TimerKey, now_ms: int) -> list[Answer]:
        self._fire_until(now_ms)
        timer = self._shard.timers.take(key)
        if timer is not None:
            self._fire(timer)
        self._fire_until(now_ms)
        return self._shard.take_answers()

    def inspect(self, group_id: str) -> GroupView | None:
        """The part of a group that DescribeGroups does not show; None where there is no such group."""
        group = self._shard.groups.get(group_id)
        if group is None:
            return None
        return GroupView(group.generation, group.leader or "", group.protocol_name or "", frozenset(group.pending_join))

    def armed(self, group_id: str, now_ms: int) -> frozenset[TimerKind]:
        """The kinds of the timers that are armed for a group."""
        self._fire_until(now_ms)
        return frozenset(timer.key.kind for timer in self._shard.timers.armed() if timer.key.group_id == group_id)

    def unload(self, now_ms: int, epoch: int | None = None) -> list[Answer]:
        """Stop serving: everything parked or uncommitted is answered NOT_COORDINATOR, and later requests are, too.

        ``epoch`` is that of the log's leader which takes over: one that is not newer than the present one comes late,
        and nothing happens (``CoordinatorRuntime.scheduleUnloadOperation``).
        """
        self._fire_until(now_ms)
        if epoch is not None and epoch <= self._epoch:
            return self._shard.take_answers()
        self._stop(Phase.CLOSED)
        unload(self._shard)
        return self._shard.take_answers()

    def depose(self) -> None:
        """Another coordinator takes over and this one is not notified: only events say so. See `unload`."""
        depose(self._shard)

    def start_loading(self) -> None:
        """Forget everything, unanswered, as a process that died, and begin to read the log: requests must wait."""
        self._stop(Phase.LOADING)
        die(self._shard)

    def load(self, records: Iterable[Record], now_ms: int, epoch: int | None = None) -> list[Answer]:
        """Serve the groups in ``records``, each in a new incarnation; see `start_loading`.

        ``epoch`` is that in which this coordinator leads the log, where that is known.
        """
        self._fire_until(now_ms)
        self._epoch = self._epoch if epoch is None else epoch
        forget(self._shard)
        self._stop(Phase.ACTIVE)
        load(self._shard, records)
        self._fire_until(now_ms)
        return self._shard.take_answers()

    def _stop(self, phase: Phase) -> None:
        """Another phase begins; the pause between two clean-ups counts anew when this one serves again."""
        self._phase = phase
        self._cleanup_ms = None

    def _dispatch(self, token: Hashable, request: GroupRequest) -> None:
        match request:
            case HeartbeatRequest():
                heartbeat(self._shard, token, request)
            case JoinGroupRequest():
                join_group(self._shard, token, request)
            case SyncGroupRequest():
                sync_group(self._shard, token, request)
            case LeaveGroupRequest():
                leave_group(self._shard, token, request)
            case OffsetCommitRequest() | TxnOffsetCommitRequest():
                offset_commit(self._shard, token, request)
            case OffsetDeleteRequest():
                offset_delete(self._shard, token, request)
            case OffsetFetchRequest():
                offset_fetch(self._shard, token, request)

    def _fire_until(self, now_ms: int) -> None:
        shard = self._shard
        if self._phase is Phase.ACTIVE and self._cleanup_ms is None:
            self._cleanup_ms = now_ms + shard.config.offsets_retention_check_interval_ms
        shard.timers.recall()
        while True:
            cleanup_ms = self._cleanup_ms
            is_due = cleanup_ms is not None and cleanup_ms <= now_ms
            timer = shard.timers.pop_due(cleanup_ms if cleanup_ms is not None and is_due else now_ms)
            if timer is not None:
                shard.now_ms = max(shard.now_ms, timer.deadline_ms)
                self._fire(timer)
                shard.timers.settle(timer, shard.now_ms)
            elif cleanup_ms is not None and is_due:
                shard.now_ms = max(shard.now_ms, cleanup_ms)
                self._cleanup_ms = cleanup_ms + shard.config.offsets_retention_check_interval_ms
                delete_what_is_old(shard)
            else:
                break
        shard.now_ms = max(shard.now_ms, now_ms)

    def _fire(self, timer: Timer) -> None:
        if timer.key.kind is TimerKind.WRITE:
            on_write_timer(self._shard, timer.key)
            return
        group = self._shard.groups.get(timer.key.group_id)
        if group is None:
            return
        match timer.key.kind:
            case TimerKind.SESSION:
                on_session_timer(self._shard, group, timer.key.member_id)
            case TimerKind.JOIN:
                on_join_timer(self._shard, group, timer.arguments)
            case TimerKind.SYNC:
                on_sync_timer(self._shard, group, timer.arguments[0])
