"""The reference coordinator as a `SteeredCoordinator`: in this process, in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from copy import deepcopy

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.hash_order import Choices
from rebalance_check.impl.coordinator.logs import SteeredLog
from rebalance_check.impl.coordinator.records import Record
from rebalance_check.impl.coordinator.shard import Numbers
from rebalance_check.impl.protocol.messages import DescribedGroup, GroupReply, GroupRequest, ListedGroup
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.steered.coordinator import Answers, Observation
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, LogTailLost
from rebalance_check.model.vocabulary.group_status import GroupStatus


class PreferredLeader(Choices):
    """Leads where `preferred` (the beginning of a member id) says, if it may; else as `Choices`."""

    __slots__ = ("preferred",)

    def __init__(self) -> None:
        self.preferred = ""

    def leader(self, candidates: Sequence[str]) -> str:
        """The preferred member's id if it is a candidate."""
        wanted = [each for each in candidates if each.partition("-")[0] == self.preferred]
        return wanted[0] if wanted else super().leader(candidates)


class InProcess:
    """`GroupCoordinator` on a `SteeredLog`.

    ``new_member_id`` makes a member id from its prefix; ``choices`` decides where Kafka's hash order does;
    ``listener`` receives the coordinator's events, under the time of the last call.
    """

    def __init__(
        self,
        config: GroupConfig,
        *,
        new_member_id: Callable[[str], str],
        choices: Choices | None = None,
        listener: Callable[[Event], None] | None = None,
    ) -> None:
        self.log = SteeredLog()
        self._choices = PreferredLeader() if choices is None else choices
        self._listener = listener
        self._harness: list[Recorder] = []
        self._now_ms = 0
        self._is_loading = False
        self._zombie: GroupCoordinator | None = None
        self._numbers = Numbers()
        self.coordinator = GroupCoordinator(
            config,
            new_member_id=new_member_id,
            recorder_for=None if listener is None else self._recorder_for,
            log=self.log,
            choices=self._choices,
            numbers=self._numbers,
        )

    def _recorder_for(self, group: str) -> Recorder:
        self._harness.append(Recorder(group, "harness", lambda: self._now_ms, self._listener))
        return Recorder(group, "coordinator", lambda: self._now_ms, self._listener)

    def _pass_until(self, now_ms: int) -> int:
        self._now_ms = max(self._now_ms, now_ms)
        return self._now_ms

    def handle(self, token: Hashable, request: GroupRequest, now_ms: int) -> Answers:
        """Handle a request."""
        return self.coordinator.handle(token, request, self._pass_until(now_ms))

    def advance(self, now_ms: int) -> Answers:
        """Let time pass."""
        return self.coordinator.advance(self._pass_until(now_ms))

    def next_deadline(self) -> int | None:
        """When the next timer is due, in ms."""
        return self.coordinator.next_deadline()

    # ------------------------------------------------------------------------------------------ administration

    def observe(self, group_id: str) -> Observation:
        """The group, with generation and leader."""
        inside = self.coordinator.inspect(group_id)
        described = self.coordinator.describe(group_id)
        return Observation(described, *((inside.generation, inside.leader) if inside else (None, None)))

    def describe(self, group_id: str) -> DescribedGroup:
        """DescribeGroups."""
        return self.coordinator.describe(group_id)

    def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> Sequence[ListedGroup]:
        """ListGroups."""
        return self.coordinator.list_groups(states, types)

    def delete(self, group_id: str) -> Error:
        """DeleteGroups."""
        return self.coordinator.delete(group_id)

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> Error:
        """The marker of a producer's transaction."""
        return self.coordinator.end_transaction(producer_id, is_committed=is_committed)

    # ------------------------------------------------------------------------------------------ single timers

    def expire_session(self, group_id: str, member_id: str) -> Answers:
        """The session of this member ends now."""
        return self.coordinator.expire_session(group_id, member_id, self._now_ms)

    def expire_initial_delay(self, group_id: str) -> Answers:
        """Let time pass from deadline to deadline until the join phase is over."""
        answers: list[tuple[Hashable, GroupReply]] = []
        while self.coordinator.describe(group_id).state == GroupStatus.PREPARING_REBALANCE:
            deadline = self.coordinator.next_deadline()
            if deadline is None:
                break
            answers += self.advance(deadline)
        return answers

    def expire_join(self, group_id: str) -> Answers:
        """The timer of the join phase runs out now."""
        return self.coordinator.expire_join(group_id, self._now_ms)

    def expire_sync(self, group_id: str) -> Answers:
        """The sync timeout of the generation is over now."""
        return self.coordinator.expire_sync(group_id, self._now_ms)

    def prefer_leader(self, prefix: str) -> None:
        """The member whose id begins with ``prefix`` leads where it may, unless other choices were given."""
        if isinstance(self._choices, PreferredLeader):
            self._choices.preferred = prefix

    # ------------------------------------------------------------------------------------------ the log

    def records(self) -> Sequence[Record]:
        """The records in the log."""
        return self.log.records

    def fail(self, error: Error) -> None:
        """Appends fail with ``error``."""
        self.log.failure = error

    def hold(self) -> None:
        """The high watermark stops."""
        self.log.hold = True

    def release(self, now_ms: int) -> Answers:
        """The high watermark catches up."""
        self.log.release()
        return self.advance(now_ms)

    # ------------------------------------------------------------------------------------------ failover

    def crash(self, lost: int) -> None:
        """Forget all but the log; the next coordinator begins to read it."""
        self.elect(lost)

    def unload(self, now_ms: int) -> Answers:
        """Stop serving, and reading; parked requests and uncommitted writes are refused."""
        self._is_loading = False
        answers = self.coordinator.unload(self._pass_until(now_ms))
        self.log.lose(0)
        return answers

    def elect(self, lost: int) -> None:
        """The next coordinator begins to read its part of the log."""
        self.log.lose(lost)
        for recorder in self._harness if lost else ():
            recorder.emit(LogTailLost(records=lost))
        self._start_loading()

    def load(self, now_ms: int) -> Answers:
        """Read the log, if that was begun."""
        if not self._is_loading:
            return self.advance(now_ms)
        self._is_loading = False
        return self.coordinator.load(tuple(self.log.records), self._pass_until(now_ms))

    def depose(self) -> None:
        """The present coordinator goes on with a log of its own; the next one begins to read the true one."""
        self._zombie = deepcopy(self.coordinator, {id(self._numbers): self._numbers})
        self._start_loading()

    def handle_at_zombie(self, token: Hashable, request: GroupRequest, now_ms: int) -> Answers:
        """Handle a request at the coordinator that was deposed.

        Raises `RebalanceCheckError` when no coordinator was deposed.
        """
        if self._zombie is None:
            raise RebalanceCheckError("no coordinator was deposed: call depose before handle_at_zombie")
        return self._zombie.handle(token, request, self._pass_until(now_ms))

    def resign_zombie(self) -> None:
        """The coordinator that was deposed is gone; nothing was parked there."""
        self._zombie = None

    def _start_loading(self) -> None:
        self._is_loading = True
        self.coordinator.start_loading()
