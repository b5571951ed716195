"""The connections that a member needs, kept without doing I/O (``NetworkClient``, ``ConsumerNetworkClient``).

The keeper orders sockets to be opened, written and closed (`take_orders`); their owner reports the results. So the
same object works on asyncio sockets and in virtual time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple

from rebalance_check.impl.client.backoff import ExponentialBackoff
from rebalance_check.impl.client.lookup import Node
from rebalance_check.impl.protocol.messages import FindCoordinatorRequest, MemberReply, MemberRequest
from rebalance_check.integration.driver.codec import (
    Address,
    ClusterMetadata,
    cluster_in,
    from_wire,
    metadata_request,
    to_wire,
)
from rebalance_check.integration.driver.config import ConnectionConfig
from rebalance_check.integration.driver.link import Key, Link, LinkState, Request, patience_ms

_CLOSED: Final = "the broker closed the connection"


class Open(NamedTuple):
    """Open a connection; `Keeper.opened` or `Keeper.lost` follows."""

    number: int
    host: str
    port: int


class Write(NamedTuple):
    """Write bytes."""

    number: int
    data: bytes


class Close(NamedTuple):
    """Close a connection; nothing follows."""

    number: int


Order = Open | Write | Close


class Keeper:
    """The connections of one member to the cluster at ``bootstrap``.

    ``topics`` says which topics the metadata are about, None for all. ``problem`` is the last error between here
    and the cluster, empty after a connection was made.
    """

    def __init__(
        self,
        bootstrap: Sequence[Address],
        config: ConnectionConfig,
        *,
        client_id: str,
        topics: Callable[[], tuple[str, ...] | None],
        random: Random,
    ) -> None:
        self.problem = ""
        self.cluster: ClusterMetadata | None = None
        self._bootstrap = list(bootstrap)
        self._config = config
        self._client_id = client_id
        self._topics = topics
        self._random = random
        self._links: dict[Key, Link] = {}
        self._by_number: dict[int, Link] = {}
        self._backoffs: dict[Key, tuple[ExponentialBackoff, int]] = {}
        self._opened = 0
        self._now_ms = 0
        self._orders: list[Order] = []
        self._outcomes: list[tuple[int, MemberReply | None]] = []
        self._lost: set[Address] = set()
        self._metadata_due_ms: int | None = 0
        self._metadata_again = False

    # ------------------------------------------------------------------------------------------------ the member

    def submit(self, number: int, request: MemberRequest, coordinator: Node | None, now_ms: int) -> None:
        """Send a member's request: a look-up to the node with the least to do, all others to the coordinator.

        Where no node can be reached now the outcome is there at once, and unknown.
        """
        self._now_ms = now_ms
        link = self._any() if isinstance(request, FindCoordinatorRequest) else self._to(coordinator)
        if link is None:
            self._outcomes.append((number, None))
            return
        deadline_ms = now_ms + patience_ms(request, self._config.request_timeout_ms)
        self._send(link, Request(to_wire(request), partial(self._answered, number, request), deadline_ms))

    def connect(self, coordinator: Node, now_ms: int) -> None:
        """The coordinator was found: connect before there is anything to send."""
        self._now_ms = now_ms
        if self._to(coordinator) is None:
            self._lost.add((coordinator.host, coordinator.port))

    def take_outcomes(self) -> list[tuple[int, MemberReply | None]]:
        """Replies since the last call, and None for each request whose outcome stays unknown."""
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def take_lost(self) -> set[Address]:
        """Where connections for the coordinator led that broke since the last call."""
        lost, self._lost = self._lost, set()
        return lost

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits for an answer of the coordinator."""
        return not any(link.load for (purpose, _), link in self._links.items() if purpose == "coordinator")

    def refresh_metadata(self) -> None:
        """Ask for the metadata anew at the next occasion."""
        if self._metadata_due_ms is None:
            self._metadata_again = True
        else:
            self._metadata_due_ms = self._now_ms

    # ------------------------------------------------------------------------------------------------ the sockets

    def take_orders(self) -> list[Order]:
        """The orders for the owner of the sockets, in order."""
        orders, self._orders = self._orders, []
        return orders

    def opened(self, number: int, now_ms: int) -> None:
        """A connection stands."""
        self._now_ms = now_ms
        link = self._by_number.get(number)
        if link is not None:
            self.problem = ""
            link.opened(now_ms + self._config.request_timeout_ms)
            self._flush(link)

    def received(self, number: int, data: bytes, now_ms: int) -> None:
        """Bytes came. `RebalanceCheckError` for errors that no retry mends, such as a version not served."""
        self._now_ms = now_ms
        link = self._by_number.get(number)
        if link is not None:
            link.received(data)
            self._backoffs.pop(link.key, None)
            self._flush(link)

    def lost(self, number: int, now_ms: int, problem: str = _CLOSED) -> None:
        """A connection broke, or could not be opened."""
        self._now_ms = now_ms
        link = self._by_number.get(number)
        if link is not None:
            self._drop(link, problem)

    # ------------------------------------------------------------------------------------------------ time

    def advance(self, now_ms: int) -> None:
        """Give up overdue requests (their connections are closed), and ask for metadata when that is due."""
        self._now_ms = now_ms
        for link in list(self._links.values()):
            due_ms = link.next_ms()
            if due_ms is not None and due_ms <= now_ms:
                self._orders.append(Close(link.number))
                self._drop(link, "it did not answer in time")
        if self._metadata_due_ms is not None and self._metadata_due_ms <= now_ms:
            self._ask_for_metadata()

    def next_ms(self) -> int | None:
        """When `advance` has something to do."""
        due = [link.next_ms() for link in self._links.values()] + [self._metadata_due_ms]
        return min((each for each in due if each is not None), default=None)

    def close(self) -> None:
        """Close every connection."""
        for link in list(self._links.values()):
            self._orders.append(Close(link.number))
            self._forget(link)
            link.close()
        self._metadata_due_ms = None

    # ------------------------------------------------------------------------------------------------ inside

    def _answered(self, number: int, request: MemberRequest, response: Any) -> None:
        self._outcomes.append((number, None if response is None else from_wire(response, request)))

    def _ask_for_metadata(self) -> None:
        link = self._any()
        if link is None:
            self._metadata_due_ms = self._now_ms + self._config.reconnect_backoff_ms
            return
        self._metadata_due_ms = None
        deadline_ms = self._now_ms + self._config.request_timeout_ms
        self._send(link, Request(metadata_request(self._topics()), self._learn, deadline_ms))

    def _learn(self, response: Any) -> None:
        wait_ms = 0 if self._metadata_again else self._config.metadata_max_age_ms
        self._metadata_again = False
        if response is None:
            wait_ms = self._config.reconnect_backoff_ms
        else:
            self.cluster = cluster_in(response)
        self._metadata_due_ms = self._now_ms + wait_ms

    def _any(self) -> Link | None:
        """A connection for requests to any node: a ready one with the least to do, else one to a node in turn."""
        links = [link for (purpose, _), link in self._links.items() if purpose == "any"]
        ready = [link for link in links if link.state is LinkState.READY]
        if ready or links:
            return min(ready or links, key=lambda link: link.load)
        known = list(self.cluster.nodes.values()) if self.cluster is not None else []
        addresses = list(dict.fromkeys([*known, *self._bootstrap]))
        start = self._random.randrange(len(addresses))
        for address in addresses[start:] + addresses[:start]:
            if (link := self._link("any", address)) is not None:
                return link
        return None

    def _to(self, coordinator: Node | None) -> Link | None:
        return None if coordinator is None else self._link("coordinator", (coordinator.host, coordinator.port))

    def _link(self, purpose: str, address: Address) -> Link | None:
        """The connection, opened if need be; None while it may not be opened again yet."""
        key = (purpose, address)
        if key in self._links:
            return self._links[key]
        if key in self._backoffs and self._now_ms < self._backoffs[key][1]:
            return None
        self._opened += 1
        until_ms = self._now_ms + self._config.connection_setup_timeout_ms
        link = self._links[key] = self._by_number[self._opened] = Link(self._opened, key, self._client_id, until_ms)
        self._orders.append(Open(link.number, *address))
        return link

    def _send(self, link: Link, request: Request) -> None:
        link.send(request)
        self._flush(link)

    def _flush(self, link: Link) -> None:
        if data := link.outgoing():
            self._orders.append(Write(link.number, data))

    def _drop(self, link: Link, problem: str) -> None:
        """The connection is over: requests that wait have no outcome, and the next attempt comes after a backoff."""
        key = link.key
        config = self._config
        backoff, _ = self._backoffs.get(key) or (
            ExponentialBackoff(config.reconnect_backoff_ms, config.reconnect_backoff_max_ms, self._random), 0,
        )  # fmt: skip
        self._backoffs[key] = (backoff, self._now_ms + backoff.next_ms())
        self.problem = f"{link.address[0]}:{link.address[1]}: {problem}"
        self._forget(link)
        if key[0] == "coordinator":
            self._lost.add(link.address)
        for request in link.close():
            request.answered(None)

    def _forget(self, link: Link) -> None:
        del self._links[link.key]
        del self._by_number[link.number]
