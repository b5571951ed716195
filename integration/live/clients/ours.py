"""Members of ours as live members: the coordinators of `rebalance_check.impl.client`, on sockets.

They record their own actions (requests, joins, assignments, commits), so the `Observer` has nothing to add. They
fetch no records: a partition counts as read one record further with each poll, as far as the topic is filled.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.elector import ElectionFailed, LeaderElector
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.protocol.leader_election import Identity
from rebalance_check.integration.driver.sockets import Member
from rebalance_check.integration.live.clients.consumer import (
    GRACE_MS,
    GaveUpError,
    LiveConsumer,
    assignors_of,
)
from rebalance_check.integration.live.clients.reading import Reading
from rebalance_check.integration.live.settings import LiveProtocol, MemberOrder
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.model.version import __version__

ASSIGNORS: Final[dict[str, Callable[[], Assignor]]] = {
    "range": RangeAssignor,
    "roundrobin": RoundRobinAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}
REST_PORT: Final = 8081
RETRY_S: Final = 0.1


def open_ours(order: MemberOrder, observer: Observer) -> LiveConsumer:
    """A consumer of ours, or a candidate of an election."""
    return OurElector(order, observer) if order.choice.protocol is LiveProtocol.ELECTION else OurConsumer(
        order, observer
    )  # fmt: skip


class _Ours:
    """The part that both have in common: the connection, and how a poll fails."""

    release: str = __version__

    def __init__(self, order: MemberOrder, coordinator: Coordinator, observer: Observer) -> None:
        self._observer = observer
        self._member = Member(coordinator, order.bootstrap)
        self._member.__enter__()

    def poll(self, timeout_ms: int) -> None:
        """See `LiveConsumer`.

        Raises: GaveUpError when the group refused the member for good.
        """
        try:
            self._member.poll(timeout_ms / 1000)
        except GroupError as refused:
            raise GaveUpError(str(refused)) from refused

    def commit(self) -> None:
        """Nothing to commit."""

    def close(self) -> None:
        """See `LiveConsumer`."""
        self._member.close(GRACE_MS / 1000)
        self._observer.left()


class OurConsumer(_Ours):
    """A `LiveConsumer` around a `ConsumerCoordinator`."""

    def __init__(self, order: MemberOrder, observer: Observer) -> None:
        self._consumer = ConsumerCoordinator(
            _config(order),
            observer.recorder,
            member=order.member,
            topics=[order.topic],
            assignors=[make() for make in assignors_of(order, ASSIGNORS)],
            partitions_per_topic={},
        )
        self._reading = Reading(self._consumer)
        super().__init__(order, self._consumer, observer)

    def poll(self, timeout_ms: int) -> None:
        """See `LiveConsumer`; each partition whose position is known is read one record further."""
        super().poll(timeout_ms)
        self._member.call(lambda _consumer: self._reading.step(now_ms()))

    def commit(self) -> None:
        """Send a commit of the records read; its outcome is recorded when it comes."""
        self._member.call(self._commit)

    def _commit(self, _coordinator: Coordinator) -> None:
        positions = self._consumer.positions()
        if positions and self._consumer.generation_if_stable() is not None:
            self._consumer.commit(positions, now_ms())


class OurElector(_Ours):
    """A `LiveConsumer` around a `LeaderElector`, which consumes nothing."""

    def __init__(self, order: MemberOrder, observer: Observer) -> None:
        identity = Identity(order.member, REST_PORT, scheme="http")
        self._elector = LeaderElector(_config(order), observer.recorder, member=order.member, identity=identity)
        super().__init__(order, self._elector, observer)

    def poll(self, timeout_ms: int) -> None:
        """See `LiveConsumer`; a failed election is waited out, as in Schema Registry."""
        try:
            super().poll(timeout_ms)
        except ElectionFailed:
            time.sleep(RETRY_S)


def _config(order: MemberOrder) -> ClientConfig:
    settings = order.settings
    return ClientConfig(
        group_id=order.group,
        client_id=order.member,
        session_timeout_ms=settings.session_timeout_ms,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
        rebalance_timeout_ms=settings.max_poll_interval_ms,
    )
