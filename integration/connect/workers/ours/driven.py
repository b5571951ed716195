"""A herder as the driver sees it: a member whose poll is the herder's thread."""

from __future__ import annotations

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.generation import Generation, MemberState
from rebalance_check.impl.client.lookup import Node
from rebalance_check.impl.client.monitor import Monitor, NoMonitor
from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.protocol.messages import MemberReply, MemberRequest


class DrivenHerder:
    """The coordinator that `Member` drives, made of the herder and its coordinator.

    The herder's callbacks never block, so they run under the member's lock: ``monitor`` is not handed on.
    """

    def __init__(self, herder: Herder) -> None:
        self.herder = herder
        self.member = herder.member
        self.monitor: Monitor = NoMonitor()
        self._coordinator = herder.coordinator

    @property
    def config(self) -> ClientConfig:
        """The settings of the member."""
        return self._coordinator.config

    @property
    def coordinator(self) -> Node | None:
        """The node that coordinates the group, as far as that is known."""
        return self._coordinator.coordinator

    @property
    def state(self) -> MemberState:
        """Where the member stands in the rebalance."""
        return self._coordinator.state

    def poll(self, now_ms: int) -> None:  # noqa: ARG002 - the herder reads the clock of its process
        """The herder's thread goes on."""
        self.herder.poll()

    def next_poll(self) -> int | None:
        """When the herder's thread goes on by itself."""
        return self.herder.next_poll()

    def close(self, now_ms: int) -> bool:  # noqa: ARG002 - as above
        """Whether an orderly end, begun by the herder's `request_stop`, is over."""
        return self.herder.halted

    def tick(self, now_ms: int) -> None:
        """The heartbeat thread."""
        self._coordinator.tick(now_ms)

    def next_deadline(self) -> int | None:
        """When the heartbeat thread has something to do."""
        return self._coordinator.next_deadline()

    def take_requests(self) -> list[tuple[int, MemberRequest]]:
        """The requests to send, in order."""
        return self._coordinator.take_requests()

    def receive(self, correlation_id: int, reply: MemberReply | None, now_ms: int) -> None:
        """A reply came, or its request was given up."""
        self._coordinator.receive(correlation_id, reply, now_ms)

    def coordinator_disconnected(self, now_ms: int) -> None:
        """The connection to that node broke."""
        self._coordinator.coordinator_disconnected(now_ms)

    def coordinator_unknown(self) -> bool:
        """Whether no node is known to coordinate the group."""
        return self._coordinator.coordinator_unknown()

    def generation_if_stable(self) -> Generation | None:
        """The present generation when the member is STABLE."""
        return self._coordinator.generation_if_stable()

    def rejoin_needed_or_pending(self) -> bool:
        """Whether it joins, or wants to."""
        return self._coordinator.rejoin_needed_or_pending()
