"""Who takes the part of the coordinator in a scenario, and the one in this process who does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Protocol

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.hash_order import Choices
from rebalance_check.impl.coordinator.logs import SteeredLog
from rebalance_check.impl.coordinator.records import Record
from rebalance_check.impl.protocol.messages import DescribedGroup, GroupReply, GroupRequest, ListedGroup
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import Event, LogTailLost

Answers = Sequence[tuple[Hashable, GroupReply]]


class Played(Protocol):
    """A coordinator with its log, driven by hand. Times are in ms, and begin at 0."""

    def handle(self, token: Hashable, request: GroupRequest, now_ms: int) -> Answers:
        """Handle a request: the answers that are due now, to earlier requests, too."""
        ...

    def advance(self, now_ms: int) -> Answers:
        """Let time pass until ``now_ms``: the answers that this causes."""
        ...

    def next_deadline(self) -> int | None:
        """When the next timer is due, in ms; None when none is armed."""
        ...

    def describe(self, group_id: str) -> DescribedGroup:
        """DescribeGroups."""
        ...

    def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> Sequence[ListedGroup]:
        """ListGroups, by group id, filtered by states and types where some are given."""
        ...

    def delete(self, group_id: str) -> Error:
        """DeleteGroups."""
        ...

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> Error:
        """The marker of a producer's transaction."""
        ...

    def records(self) -> Sequence[Record]:
        """What the log holds."""
        ...

    def fail(self, error: Error) -> None:
        """Appends fail with this; with NONE they succeed again."""
        ...

    def hold(self) -> None:
        """The high watermark stops."""
        ...

    def release(self, now_ms: int) -> Answers:
        """The high watermark catches up: the answers that this causes."""
        ...

    def crash(self, lost: int) -> None:
        """Gone without a word, with the last ``lost`` records; another begins to read the log."""
        ...

    def load(self, now_ms: int) -> Answers:
        """The log is read; nothing happens where nobody began to."""
        ...

    def unload(self, now_ms: int) -> Answers:
        """It stops serving."""
        ...


class InProcess:
    """`GroupCoordinator` on a `SteeredLog`; ``listener`` hears what it tells, under the time of the last call."""

    def __init__(
        self,
        config: GroupConfig,
        *,
        new_member_id: Callable[[str], str],
        choices: Choices | None = None,
        defects: frozenset[str] = frozenset(),
        listener: Callable[[Event], None] | None = None,
    ) -> None:
        self.log = SteeredLog()
        self._now_ms = 0

        self._harness: list[Recorder] = []

        def recorder_for(group: str) -> Recorder:
            self._harness.append(Recorder(group, "harness", lambda: self._now_ms, listener))
            return Recorder(group, "coordinator", lambda: self._now_ms, listener)

        self.coordinator = GroupCoordinator(
            config,
            new_member_id=new_member_id,
            recorder_for=None if listener is None else recorder_for,
            log=self.log,
            choices=choices,
            defects=defects,
        )
        self.next_deadline = self.coordinator.next_deadline
        self.list_groups = self.coordinator.list_groups
        self.delete = self.coordinator.delete
        self.end_transaction = self.coordinator.end_transaction
        self._is_loading = False

    def handle(self, token: Hashable, request: GroupRequest, now_ms: int) -> Answers:
        """Handle a request."""
        self._now_ms = now_ms
        return self.coordinator.handle(token, request, now_ms)

    def advance(self, now_ms: int) -> Answers:
        """Let time pass."""
        self._now_ms = now_ms
        return self.coordinator.advance(now_ms)

    def describe(self, group_id: str) -> DescribedGroup:
        """DescribeGroups."""
        return self.coordinator.describe(group_id)

    def records(self) -> Sequence[Record]:
        """What the log holds."""
        return self.log.records

    def fail(self, error: Error) -> None:
        """Appends fail with this; with NONE they succeed again."""
        self.log.failure = error

    def hold(self) -> None:
        """The high watermark stops."""
        self.log.hold = True

    def release(self, now_ms: int) -> Answers:
        """The high watermark catches up."""
        self.log.release()
        return self.coordinator.advance(now_ms)

    def crash(self, lost: int) -> None:
        """Forget all but the log."""
        self.log.lose(lost)
        for recorder in self._harness if lost else ():
            recorder.emit(LogTailLost(records=lost))
        self._is_loading = True
        self.coordinator.start_loading()

    def load(self, now_ms: int) -> Answers:
        """Read the log, if that was begun."""
        if not self._is_loading:
            return self.coordinator.advance(now_ms)
        self._is_loading = False
        return self.coordinator.load(self.log.records, now_ms)

    def unload(self, now_ms: int) -> Answers:
        """Stop serving, and reading."""
        self._is_loading = False
        return self.coordinator.unload(now_ms)
