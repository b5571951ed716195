"""The code inside a simulated member process, and how it shows its membership, for groups of any kind."""

from __future__ import annotations

from typing import Protocol

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.client.lookup import Node
from rebalance_check.impl.protocol.messages import MemberReply, MemberRequest
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import MemberStarted


class WokenUp(Exception):  # noqa: N818 - Kafka's WakeupException
    """Another thread interrupted the poll; the application goes on, and polls again."""


class Application(Protocol):
    """The code inside a process, from its start to its end: a client coordinator and the code that uses it."""

    def poll(self, now_ms: int) -> None:
        """The application thread goes on inside ``poll``."""
        ...

    def work(self, now_ms: int) -> None:
        """It works between two polls."""
        ...

    def tick(self, now_ms: int) -> None:
        """The heartbeat thread goes on."""
        ...

    @property
    def coordinator(self) -> Node | None:
        """The node that it takes for the coordinator."""
        ...

    def coordinator_disconnected(self, now_ms: int) -> None:
        """The connection to that node broke."""
        ...

    def receive(self, correlation_id: int, reply: MemberReply | None, now_ms: int) -> None:
        """A reply came, or (None) its request was given up."""
        ...

    def take_requests(self) -> list[tuple[int, MemberRequest]]:
        """The requests to be sent, in order."""
        ...

    def next_deadline(self) -> int | None:
        """When the heartbeat thread has something to do."""
        ...

    def next_poll(self) -> int | None:
        """When the application thread, waiting inside ``poll``, can make progress by itself (0: at once)."""
        ...

    def close(self, now_ms: int) -> bool:
        """Leave in an orderly way; False while something must be answered first."""
        ...

    def pending(self) -> str:
        """The thing that this member waits for; empty when it is settled."""
        ...

    def standing(self) -> tuple[int, str]:
        """Generation and member id."""
        ...

    @property
    def holds(self) -> tuple[str, ...]:
        """The things that it owns: partitions, or connectors and tasks."""
        ...


def pending_of(member: Coordinator) -> str:
    """The thing that a member waits for whose application is a `Coordinator` itself; empty when it is settled."""
    if member.state is not MemberState.STABLE:
        return f"is {member.state.value}"
    if member.coordinator is None:
        return "looks for its coordinator"
    return "wants to join again" if member.rejoin_needed_or_pending() else ""


def standing_of(member: Coordinator) -> tuple[int, str]:
    """Its generation and member id."""
    generation = member.generation()
    return generation.generation_id, generation.member_id


def record_start(
    recorder: Recorder,
    member: str,
    config: ClientConfig,
    protocol: str,
    *,
    offered: tuple[str, ...],
    topics: tuple[str, ...] = (),
    poll_ms: int = 0,
    auto_commit_interval_ms: int = 0,
    by_pattern: bool = False,
) -> None:
    """Record that the process ``member`` runs from now on, with its configuration and the topics it wants.

    ``offered`` are the names of its assignors, or of its protocols, most preferred first; ``poll_ms`` is how long one
    poll waits in which the member is woken when it has something to do, ``auto_commit_interval_ms`` how often it
    commits by itself (0: never), ``by_pattern`` whether ``topics`` are those that match a pattern.
    """
    recorder.emit(
        MemberStarted(
            member=member,
            protocol=protocol,
            group_instance_id=config.group_instance_id or "",
            assignors=offered,
            topics=topics,
            rebalance_timeout_ms=config.rebalance_timeout_ms,
            session_timeout_ms=config.session_timeout_ms,
            heartbeat_interval_ms=config.heartbeat_interval_ms,
            retry_backoff_ms=config.retry_backoff_ms,
            retry_backoff_max_ms=config.retry_backoff_max_ms,
            leaves_silently=not config.leave_on_close,
            poll_ms=poll_ms,
            auto_commit_interval_ms=auto_commit_interval_ms,
            by_pattern=by_pattern,
        )
    )
