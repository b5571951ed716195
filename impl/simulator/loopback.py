"""Clients and a group coordinator in one process, without a network between them.

For trying out a `Coordinator` of one's own, and for tests. Nothing is late and nothing is lost; `impl.simulator` is
the place for bad days.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar, cast

from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.shard import Answer
from rebalance_check.impl.protocol.messages import FindCoordinatorReply, FindCoordinatorRequest
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import Event, MemberCrashed

POLL_EVERY_MS: Final = 50
"""How often an application polls."""

Client = TypeVar("Client", bound=Coordinator)
"""The class of a client that is added."""


class Loopback:
    """One coordinator and its clients in virtual time, from 0 ms.

    ``events`` collects the events of all, in order. A client in ``stalled`` is not polled: its heartbeat side goes
    on by itself, as when an application is stuck in processing. While ``has_coordinator`` is False a look-up is
    answered COORDINATOR_NOT_AVAILABLE.
    """

    def __init__(self, config: GroupConfig | None = None) -> None:
        self.now_ms = 0
        self.events: list[Event] = []
        self.clients: dict[str, Coordinator] = {}
        self.stalled: set[str] = set()
        self.has_coordinator = True
        self._ids = 0
        self.coordinator = GroupCoordinator(
            config or GroupConfig(initial_rebalance_delay_ms=0),
            new_member_id=self._new_member_id,
            recorder_for=lambda group: self.recorder(group, "coordinator"),
        )

    def recorder(self, group: str, source: str) -> Recorder:
        """A recorder that appends to ``events``."""
        return Recorder(group, source, lambda: self.now_ms, self.events.append)

    def add(self, make: Callable[[Recorder], Client], *, group: str, member: str) -> Client:
        """Start a client under the name ``member`` and return it; ``make`` builds it around its recorder."""
        client = self.clients[member] = make(self.recorder(group, member))
        return client

    def close(self, member: str) -> None:
        """Close a client and let its last words arrive."""
        client = self.clients[member]
        while not client.close(self.now_ms):
            self.exchange()
        self.exchange()
        del self.clients[member]

    def kill(self, member: str) -> None:
        """End a client without a word of its own; its record says that it ended here."""
        self.clients.pop(member).recorder.emit(MemberCrashed(member=member))

    def run(self, for_ms: int) -> None:
        """Let ``for_ms`` milliseconds pass: polls, heartbeats, timers."""
        end_ms = self.now_ms + for_ms
        while self.now_ms < end_ms:
            self._step()
            self.now_ms = min(end_ms, self._next_ms())
        self._step()

    def exchange(self) -> None:
        """Carry requests and answers to and fro until neither side has anything to say."""
        while sent := [(name, *entry) for name, client in self.clients.items() for entry in client.take_requests()]:
            for name, correlation_id, request in sent:
                if isinstance(request, FindCoordinatorRequest):
                    self.clients[name].receive(correlation_id, self._found(), self.now_ms)
                    continue
                self._deliver(self.coordinator.handle((name, correlation_id), request, self.now_ms))

    def _found(self) -> FindCoordinatorReply:
        if not self.has_coordinator:
            return FindCoordinatorReply(error=Error.COORDINATOR_NOT_AVAILABLE)
        return FindCoordinatorReply(node_id=0, host="localhost", port=9092)

    def _step(self) -> None:
        self._deliver(self.coordinator.advance(self.now_ms))
        for name, client in list(self.clients.items()):
            client.tick(self.now_ms)
            if name not in self.stalled:
                client.poll(self.now_ms)
            self.exchange()

    def _next_ms(self) -> int:
        """The next poll by the applications' rhythm, or something that is due earlier."""
        next_poll_ms = (self.now_ms // POLL_EVERY_MS + 1) * POLL_EVERY_MS
        deadlines = [self.coordinator.next_deadline()]
        for name, client in self.clients.items():
            deadlines += [client.next_deadline(), None if name in self.stalled else client.next_poll()]
        return min([next_poll_ms, *(max(ms, self.now_ms + 1) for ms in deadlines if ms is not None)])

    def _deliver(self, answers: Iterable[Answer]) -> None:
        for token, reply in answers:
            name, correlation_id = cast("tuple[str, int]", token)
            if client := self.clients.get(name):
                client.receive(correlation_id, reply, self.now_ms)

    def _new_member_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix or 'member'}-{self._ids:04d}"
