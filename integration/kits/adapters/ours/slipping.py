"""A consumer that makes one deliberate mistake in its requests, or in its reading of a reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.protocol.consumer_protocol import Subscription, read_subscription, write_subscription
from rebalance_check.impl.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinProtocol,
    LeaveGroupRequest,
    MemberReply,
    MemberRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)


class Slip:
    """Makes no mistake; each mistake is a subclass, which a consumer has one of.

    The methods ``join``, ``sync``, ``heartbeat``, ``commit`` and ``leave`` return requests to send instead of such a
    request: itself, altered, with others before or after it, or nothing.
    """

    consumer: SlippingConsumer
    """Whose mistake it is."""

    def sends(self, request: MemberRequest) -> Sequence[MemberRequest]:
        """The requests to send instead of any request."""
        match request:
            case JoinGroupRequest():
                return self.join(request)
            case SyncGroupRequest():
                return self.sync(request)
            case HeartbeatRequest():
                return self.heartbeat(request)
            case OffsetCommitRequest():
                return self.commit(request)
            case LeaveGroupRequest():
                return self.leave(request)
            case _:
                return [request]

    def join(self, join: JoinGroupRequest) -> Sequence[MemberRequest]:
        """See the class."""
        return [join]

    def sync(self, sync: SyncGroupRequest) -> Sequence[MemberRequest]:
        """See the class."""
        return [sync]

    def heartbeat(self, heartbeat: HeartbeatRequest) -> Sequence[MemberRequest]:
        """See the class."""
        return [heartbeat]

    def commit(self, commit: OffsetCommitRequest) -> Sequence[MemberRequest]:
        """See the class."""
        return [commit]

    def leave(self, leave: LeaveGroupRequest) -> Sequence[MemberRequest]:
        """See the class."""
        return [leave]

    def gets(self, reply: MemberReply) -> MemberReply:
        """The reply that the consumer gets instead."""
        return reply

    def rejoins(self, reason: str) -> bool:
        """Whether the consumer joins again for this reason."""
        return bool(reason)

    def ends(self) -> None:
        """The consumer is about to leave in good order."""


class SlippingConsumer(ConsumerCoordinator):
    """A consumer whose requests and replies pass through a `Slip`; arguments as of `ConsumerCoordinator`."""

    def __init__(self, *args: Any, slip: Slip, **more: Any) -> None:
        super().__init__(*args, **more)
        self._slip = slip
        slip.consumer = self

    def take_requests(self) -> list[tuple[int, MemberRequest]]:
        """See `CoordinatorCore.take_requests`."""
        return [pair for number, request in super().take_requests() for pair in self._slipped(number, request)]

    def _slipped(self, number: int, request: MemberRequest) -> list[tuple[int, MemberRequest]]:
        """The reply to the first request of the same kind is the one that is waited for; others are not read."""
        sent = self._slip.sends(request)
        first = next((place for place, each in enumerate(sent) if type(each) is type(request)), -1)
        return [(number if place == first else self._new_number(), each) for place, each in enumerate(sent)]

    def _new_number(self) -> int:
        self._next_correlation_id += 1
        return self._next_correlation_id - 1

    def receive(self, correlation_id: int, reply: MemberReply | None, now_ms: int) -> None:
        """See `CoordinatorCore.receive`."""
        super().receive(correlation_id, None if reply is None else self._slip.gets(reply), now_ms)

    def send_at_once(self, request: MemberRequest) -> None:
        """Send a request of which the consumer knows nothing, and whose reply it does not read."""
        self._outbox.append((self._new_number(), request))

    def request_rejoin(self, reason: str) -> None:
        """See `Heartbeating.request_rejoin`."""
        if self._slip.rejoins(reason):
            super().request_rejoin(reason)

    def on_leave_prepare(self) -> None:
        """See `Coordinator.on_leave_prepare`."""
        self._slip.ends()
        super().on_leave_prepare()


def subscription_of(join: JoinGroupRequest) -> Subscription:
    """The subscription in a JoinGroup."""
    return read_subscription(join.protocols[0].metadata)


def with_subscription(join: JoinGroupRequest, subscription: Subscription) -> JoinGroupRequest:
    """The JoinGroup with another subscription for each of its protocols."""
    data = write_subscription(subscription)
    return replace(join, protocols=tuple(JoinProtocol(each.name, data) for each in join.protocols))
