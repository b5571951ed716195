"""The common state of one coordinator's operations: groups, timers, log, the time of the step, and its replies."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from rebalance_check.impl.coordinator.config import GroupConfig
from rebalance_check.impl.coordinator.emit import EventEmitter, RecorderFor, Ticket
from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.hash_order import Choices
from rebalance_check.impl.coordinator.logs import GroupLog
from rebalance_check.impl.coordinator.timers import TimerKey, TimerKind, Timers
from rebalance_check.impl.protocol.messages import GroupReply, GroupRequest
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus

Answer = tuple[Hashable, GroupReply]


class Numbers:
    """The counters in events: the incarnations of each group, and the requests. The nodes of one cluster share them."""

    __slots__ = ("_incarnations", "_requests")

    def __init__(self) -> None:
        self._incarnations: dict[str, int] = {}
        self._requests = 0

    def next_incarnation(self, group_id: str) -> int:
        """The number of the incarnation that the group begins now; deletion does not reset the count."""
        self._incarnations[group_id] = self._incarnations.get(group_id, -1) + 1
        return self._incarnations[group_id]

    def next_request(self) -> int:
        """The number of the request that came in now."""
        self._requests += 1
        return self._requests


class Shard:
    """The working memory of a `GroupCoordinator` (``GroupCoordinatorShard``); ``now_ms`` is the time of the step.

    ``doomed`` are groups whose tombstone is written and not yet committed: gone, but still visible to readers.
    ``unrecorded`` are groups that a commit created of which nothing was written: readers, who see what is committed,
    see them from the next write of any group on.
    """

    __slots__ = (
        "_answers", "_numbers", "_writes", "choices", "config", "doomed", "emit", "groups",
        "log", "new_member_id", "now_ms", "pending_writes", "refused", "timers", "unanswered", "unrecorded",
    )  # fmt: skip

    def __init__(
        self,
        config: GroupConfig,
        *,
        new_member_id: Callable[[str], str],
        recorder_for: RecorderFor | None,
        log: GroupLog,
        choices: Choices,
        numbers: Numbers,
    ) -> None:
        self.config = config
        self.new_member_id = new_member_id
        self.log = log
        self.choices = choices
        self.emit = EventEmitter(recorder_for, config)
        self.groups: dict[str, Group] = {}
        self.doomed: dict[str, Group] = {}
        self.unrecorded: list[Group] = []
        self.timers = Timers()
        self.now_ms = 0
        self.pending_writes: dict[TimerKey, Callable[[Error], None]] = {}
        self.unanswered: set[Hashable] = set()
        self.refused: set[Hashable] = set()
        self._writes = 0
        self._numbers = numbers
        self._answers: list[Answer] = []

    def answer(self, token: Hashable, reply: GroupReply) -> None:
        """Answer a request, now or parked earlier; one that was refused while it was parked is not answered again."""
        self.unanswered.discard(token)
        if token in self.refused:
            self.refused.discard(token)
            return
        if isinstance(token, Ticket):
            self.emit.replied(token, reply, self.groups.get(token.request.group_id))
        self._answers.append((token, reply))

    def admit(self, token: Hashable, request: GroupRequest) -> Ticket:
        """A request came in: the ticket under which it is answered, now or later."""
        return Ticket(self._numbers.next_request(), token, request)

    def has_answered(self, token: Hashable) -> bool:
        """Whether this step answered a request."""
        return any(answered == token for answered, _ in self._answers)

    def take_unrecorded(self) -> list[Group]:
        """The groups without a record, whose outcome is that of the write that begins now."""
        taken, self.unrecorded = self.unrecorded, []
        return taken

    def next_write(self) -> int:
        """The number of a new write."""
        self._writes += 1
        return self._writes

    def take_answers(self) -> list[Answer]:
        """The answers given since the last call, in order."""
        answers, self._answers = self._answers, []
        return [(given.token if isinstance(given, Ticket) else given, reply) for given, reply in answers]

    def move(self, group: Group, target: GroupStatus) -> None:
        """Change the status of a group; raises `IllegalTransition` for a move that the protocol does not know."""
        before = group.status
        group.move_to(target, self.now_ms)
        self.emit.moved(group, before)

    def next_incarnation(self, group_id: str) -> int:
        """The number of the incarnation that the group begins now."""
        return self._numbers.next_incarnation(group_id)

    # The three timers of the protocol, by name.

    def arm_session(self, group: Group, member_id: str, timeout_ms: int) -> None:
        """(Re)start the session of a member or of a pending id."""
        self.timers.arm(TimerKey(TimerKind.SESSION, group.group_id, member_id), self.now_ms + timeout_ms)

    def cancel_session(self, group: Group, member_id: str) -> None:
        """End the session of a member or of a pending id without a verdict."""
        self.timers.cancel(TimerKey(TimerKind.SESSION, group.group_id, member_id))

    def arm_join(self, group: Group, timeout_ms: int, *arguments: int) -> None:
        """Start the deadline of the join phase; ``arguments`` are (delay, remaining) of an initial rebalance."""
        self.timers.arm(TimerKey(TimerKind.JOIN, group.group_id), self.now_ms + timeout_ms, *arguments)

    def cancel_join(self, group: Group) -> None:
        """The join phase is over."""
        self.timers.cancel(TimerKey(TimerKind.JOIN, group.group_id))

    def arm_sync(self, group: Group) -> None:
        """Start the deadline by which every member of this generation must have synced."""
        key = TimerKey(TimerKind.SYNC, group.group_id)
        self.timers.arm(key, self.now_ms + group.rebalance_timeout_ms(), group.generation)

    def cancel_sync(self, group: Group) -> None:
        """No member owes a SyncGroup any more."""
        self.timers.cancel(TimerKey(TimerKind.SYNC, group.group_id))
