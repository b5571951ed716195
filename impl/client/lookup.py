"""The look-up of the coordinator: one FindCoordinator at a time, and its answers (``AbstractCoordinator``)."""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

from rebalance_check.impl.client.backoff import ExponentialBackoff
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.protocol.messages import FindCoordinatorReply
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error

_RETRIABLE: Final = frozenset(
    {
        Error.COORDINATOR_NOT_AVAILABLE,
        Error.COORDINATOR_LOAD_IN_PROGRESS,
        Error.NOT_COORDINATOR,
        Error.NETWORK_EXCEPTION,
        Error.REQUEST_TIMED_OUT,
    }
)
"""Answers after which the client asks again, another node perhaps. All others are for the application."""


class Node(NamedTuple):
    """A node of the cluster, and where clients reach it."""

    node_id: int
    host: str
    port: int


class CoordinatorLookup:
    """A member's knowledge of its coordinator: the node, or how far the look-up is.

    Kafka's heartbeat thread gives a look-up up after ``retry.backoff.ms`` and asks another node; here one that is in
    flight is waited for until it is answered or times out. ``due_ms`` is when the next look-up may be sent. ``failure``
    is a refusal that no retry mends; the application gets it from its next poll.
    """

    __slots__ = ("_backoff", "_retry_ms", "due_ms", "failure", "in_flight", "node")

    def __init__(self, config: ClientConfig, random: Random | None) -> None:
        self.node: Node | None = None
        self.in_flight: int | None = None
        self.due_ms = 0
        self.failure: GroupError | None = None
        self._retry_ms = config.retry_backoff_ms
        self._backoff = ExponentialBackoff(config.retry_backoff_ms, config.retry_backoff_max_ms, random)

    def is_due(self, now_ms: int) -> bool:
        """Whether to send a FindCoordinator now: the coordinator is unknown, and no other look-up is in flight."""
        return self.node is None and self.in_flight is None and now_ms >= self.due_ms

    @property
    def next_ms(self) -> int | None:
        """When the next look-up is due; None while an answer is waited for."""
        return self.due_ms if self.in_flight is None else None

    def answered(self, reply: FindCoordinatorReply | None, now_ms: int) -> None:
        """Note the answer; None is a disconnect or a time-out, after which another node is asked."""
        self.in_flight = None
        error = Error.NETWORK_EXCEPTION if reply is None else reply.error
        if reply is not None and error is Error.NONE:
            self.node = Node(reply.node_id, reply.host, reply.port)
            self._backoff.reset()
        elif error in _RETRIABLE:
            self.due_ms = now_ms + self._backoff.next_ms()
        else:
            self.due_ms = now_ms + self._retry_ms
            self.failure = GroupError(Api.FIND_COORDINATOR, error)

    def lost(self, now_ms: int) -> None:
        """The coordinator is unknown from now on."""
        self.node = None
        self.due_ms = now_ms + self._retry_ms

    def take_failure(self) -> GroupError | None:
        """The refusal that the application has not got yet."""
        failure, self.failure = self.failure, None
        return failure
