"""Group requests at the embedded broker: checks before the coordinator, parked requests, and its alarm clock."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, Final, TypeVar

from rebalance_check.impl.coordinator import GroupCoordinator
from rebalance_check.impl.coordinator.logs import ImmediateLog
from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.embedded.transactions import Producer, Transactions
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.integration.wire.apis import api_name
from rebalance_check.integration.wire.shapes import Shape, shape_of_commit, topic_shapes
from rebalance_check.model.vocabulary.errors import Error

T = TypeVar("T")

MAX_BATCH_BYTES: Final = 1_048_588
"""The longest batch of records in the offsets topic (``message.max.bytes``): a longer commit fails, as in Kafka."""

RECORD_BYTES: Final = 52
"""The size of the record of a committed offset, without the names of group and topic and without metadata."""

ITEMS_AT_ONCE: Final = 1_000
"""How many items of a request the coordinator sees at once, where they have nothing to do with each other."""

OF_OFFSETS: Final = frozenset({"OffsetCommit", "TxnOffsetCommit", "OffsetDelete"})
"""The apis that answer about missing groups without the coordinator."""

Commit = msg.OffsetCommitRequest | msg.TxnOffsetCommitRequest


class Groups:
    """The coordinator, as the broker asks it: one call is one turn of the event loop, and a short one.

    ``clock`` has the time in ms; ``transactions`` know which commits a producer may make.
    """

    def __init__(
        self,
        coordinator: GroupCoordinator,
        topics: Topics,
        clock: Callable[[], int] = now_ms,
        transactions: Transactions | None = None,
    ) -> None:
        self._transactions = transactions
        self.coordinator = coordinator
        self._now_ms = clock
        self._topics = topics
        self._parked: dict[Hashable, asyncio.Future[msg.GroupReply]] = {}
        self._tokens = itertools.count()
        self._alarm: asyncio.TimerHandle | None = None

    def stop(self) -> None:
        """No timer fires any more; parked requests stay unanswered."""
        if self._alarm is not None:
            self._alarm.cancel()

    @property
    def parked(self) -> int:
        """How many requests wait for another one, or for time to pass."""
        return sum(not answer.done() for answer in self._parked.values())

    async def reply(self, request: msg.GroupRequest) -> msg.GroupReply:
        """The reply to a request, as soon as there is one."""
        match request:
            case msg.OffsetCommitRequest() | msg.TxnOffsetCommitRequest():
                return await self._commit(request)
            case msg.OffsetDeleteRequest():
                return await self._delete_offsets(request)
            case msg.OffsetFetchRequest() if request.partitions is not None:
                return await self._fetch_offsets(request, request.partitions)
            case msg.LeaveGroupRequest():
                return await self._leave(request)
        return await self._ask(request)

    # ----------------------------------------------------------------------------------- requests with many items

    async def _commit(self, request: Commit) -> msg.GroupReply:
        """Partitions that do not exist are answered before the coordinator sees the rest, which has to fit a batch."""
        exists = [self._topics.exists(o.topic, o.partition) async for o in paced(request.offsets)]
        known = tuple(compress(request.offsets, exists))
        is_plain = isinstance(request, msg.OffsetCommitRequest)
        reply: msg.OffsetCommitReply | msg.TxnOffsetCommitReply
        reply = msg.OffsetCommitReply() if is_plain else msg.TxnOffsetCommitReply()
        errors: list[Error] = []
        if sum([batch_bytes(request.group_id, o) async for o in paced(known)]) > MAX_BATCH_BYTES:
            errors = [Error.UNKNOWN_SERVER_ERROR for _ in known]
        elif known:
            reply = await self._commit_known(replace(request, offsets=known))
            errors = [error for _, _, error in reply.partitions]
        return replace(reply, partitions=merged([(o.topic, o.partition) for o in request.offsets], exists, errors))

    async def _commit_known(self, request: Commit) -> msg.OffsetCommitReply | msg.TxnOffsetCommitReply:
        """Only offsets of a transaction are committed in it."""
        transactions = self._transactions if isinstance(request, msg.TxnOffsetCommitRequest) else None
        if transactions is not None and isinstance(request, msg.TxnOffsetCommitRequest) and request.group_id:
            by = Producer(request.producer_id, request.producer_epoch)
            error = transactions.verify_commit(request.transactional_id, by, request.group_id)
            if error is not Error.NONE:
                return msg.TxnOffsetCommitReply(
                    error=error, partitions=tuple((o.topic, o.partition, error) for o in request.offsets)
                )
            transactions.note_commit(by)
        reply = await self._ask(request)
        assert isinstance(reply, msg.OffsetCommitReply | msg.TxnOffsetCommitReply)
        return reply

    async def _delete_offsets(self, request: msg.OffsetDeleteRequest) -> msg.GroupReply:
        """As `_commit`; an error of the whole request stands alone."""
        exists = [self._topics.exists(*key) async for key in paced(request.partitions)]
        errors: list[Error] = []
        for some in slices([*compress(request.partitions, exists)]):
            reply = await self._ask(replace(request, partitions=some))
            assert isinstance(reply, msg.OffsetDeleteReply)
            if reply.error is not Error.NONE:
                return reply
            errors += [error for _, _, error in reply.partitions]
        return msg.OffsetDeleteReply(partitions=merged(request.partitions, exists, errors))

    async def _fetch_offsets(
        self, request: msg.OffsetFetchRequest, partitions: Sequence[tuple[str, int]]
    ) -> msg.GroupReply:
        replies = [await self._ask(replace(request, partitions=some)) for some in slices(partitions)]
        read = [reply for reply in replies if isinstance(reply, msg.OffsetFetchReply)]
        refused = next((reply for reply in read if reply.error is not Error.NONE), None)
        return refused or msg.OffsetFetchReply(
            offsets=tuple(offset for reply in read for offset in reply.offsets),
            errors=tuple(error for reply in read for error in reply.errors),
        )

    async def _leave(self, request: msg.LeaveGroupRequest) -> msg.GroupReply:
        replies = [await self._ask(replace(request, members=some)) for some in slices(request.members)]
        left = [reply for reply in replies if isinstance(reply, msg.LeaveGroupReply)]
        refused = next((reply for reply in left if reply.error is not Error.NONE), None)
        return refused or msg.LeaveGroupReply(members=tuple(member for reply in left for member in reply.members))

    # ----------------------------------------------------------------------------------- the coordinator

    async def _ask(self, request: msg.GroupRequest) -> msg.GroupReply:
        token = next(self._tokens)
        answer: asyncio.Future[msg.GroupReply] = asyncio.get_running_loop().create_future()
        self._parked[token] = answer
        try:
            self._deliver(self.coordinator.handle(token, request, self._now_ms()))
            return await answer
        finally:
            del self._parked[token]

    def _deliver(self, replies: Sequence[tuple[Hashable, msg.GroupReply]]) -> None:
        for token, reply in replies:
            answer = self._parked.get(token)
            if answer is not None and not answer.done():
                answer.set_result(reply)
        self._set_alarm()

    def _set_alarm(self) -> None:
        """Wake the coordinator when its next timer is due."""
        self.stop()
        self._alarm = None
        deadline = self.coordinator.next_deadline()
        if deadline is not None:
            delay_s = max(deadline - self._now_ms(), 0) / 1000
            self._alarm = asyncio.get_running_loop().call_later(delay_s, self.advance)

    def advance(self) -> None:
        """Let the timers fire that are due."""
        self._alarm = None
        self._deliver(self.coordinator.advance(self._now_ms()))

    def fail_over(self) -> None:
        """Another node takes over: parked requests are answered NOT_COORDINATOR, the groups are read from the log."""
        log = self.coordinator.log
        assert isinstance(log, ImmediateLog)
        self._deliver(self.coordinator.unload(self._now_ms()))
        self._deliver(self.coordinator.load([*log.records], self._now_ms()))

    def expire_session(self, group_id: str, member_id: str) -> None:
        """Let the session of a member run out now; nothing happens where none runs."""
        self._deliver(self.coordinator.expire_session(group_id, member_id, self._now_ms()))


def shapes_of(request: Any, topics: Topics) -> list[Shape | None]:
    """How topics stand in the answer to a decoded request, which may hold several."""
    if api_name(request) in OF_OFFSETS:
        return [shape_of_commit(request.topics, topics.exists)]
    return topic_shapes(request)


def merged(
    keys: Sequence[tuple[str, int]], exists: Sequence[bool], errors: Sequence[Error]
) -> tuple[tuple[str, int, Error], ...]:
    """The error of each partition, those first that do not exist; the others have ``errors``, in their order."""
    missing = [(*key, Error.UNKNOWN_TOPIC_OR_PARTITION) for key, found in zip(keys, exists, strict=True) if not found]
    known = [(*key, error) for key, error in zip(compress(keys, exists), errors, strict=True)]
    return (*missing, *known)


def slices(items: Sequence[T]) -> list[tuple[T, ...]]:
    """The items in pieces of at most `ITEMS_AT_ONCE`; of no items one empty piece."""
    return [tuple(items[at : at + ITEMS_AT_ONCE]) for at in range(0, max(len(items), 1), ITEMS_AT_ONCE)]


def batch_bytes(group_id: str, offset: msg.CommittedOffset) -> int:
    """The size of the record of a committed offset in a batch, in bytes."""
    return RECORD_BYTES + len(group_id.encode()) + len(offset.topic.encode()) + len(offset.metadata.encode())
