"""The interface of a group coordinator that is driven by hand, and an observer's view of its groups."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rebalance_check.impl.coordinator.records import Record
from rebalance_check.impl.protocol.messages import DescribedGroup, GroupReply, GroupRequest, ListedGroup
from rebalance_check.model.vocabulary.errors import Error

Answers = Sequence[tuple[Hashable, GroupReply]]
"""Replies, each with the token of its request."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The group as an observer sees it; None where the coordinator under test shows nothing.

    ``generation`` and ``leader`` (a member id, empty for none) are visible only from inside a coordinator.
    ``shows_assignments`` is False where no assignment in ``described`` may mean "not shown": the Scala coordinator
    shows them in Stable only.
    """

    described: DescribedGroup
    generation: int | None = None
    leader: str | None = None
    shows_assignments: bool = True


class SteeredCoordinator(Protocol):
    """A group coordinator with its log, its clock and its failovers in the caller's hand.

    Times are in ms and begin at 0; a ``now_ms`` that has passed already means the present. Every method that returns
    `Answers` returns the replies that became due since the last one, to earlier requests, too.
    """

    def handle(self, token: Hashable, request: GroupRequest, now_ms: int) -> Answers:
        """Handle a request; its reply carries ``token``."""
        ...

    def advance(self, now_ms: int) -> Answers:
        """Let time pass until ``now_ms``."""
        ...

    def next_deadline(self) -> int | None:
        """When the next timer is due, in ms; None when none is armed."""
        ...

    # ------------------------------------------------------------------------------------------ administration

    def observe(self, group_id: str) -> Observation:
        """The group as DescribeGroups shows it, with generation and leader from inside."""
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

    # ------------------------------------------------------------------------------------------ single timers

    def expire_session(self, group_id: str, member_id: str) -> Answers:
        """Let the session of this member, and of no other, run out; nothing happens where none runs."""
        ...

    def expire_initial_delay(self, group_id: str) -> Answers:
        """Let the initial rebalance delay pass, which each new member prolongs, until the join phase is over."""
        ...

    def expire_join(self, group_id: str) -> Answers:
        """Let the timer of the join phase run out; nothing happens where none runs."""
        ...

    def expire_sync(self, group_id: str) -> Answers:
        """Let the deadline pass by which all members must have synced; nothing happens where none runs."""
        ...

    def prefer_leader(self, prefix: str) -> None:
        """Let the member whose id begins with ``prefix`` and a hyphen lead where the coordinator may choose.

        A coordinator whose choice cannot be steered does nothing.
        """

    # ------------------------------------------------------------------------------------------ the log

    def records(self) -> Sequence[Record]:
        """The records in the log."""
        ...

    def fail(self, error: Error) -> None:
        """From now on appends fail with ``error``; with NONE they succeed again."""

    def hold(self) -> None:
        """From now on, appends are not committed: the high watermark stops."""

    def release(self, now_ms: int) -> Answers:
        """Held appends are committed, and later appends at once: the high watermark catches up."""
        ...

    # ------------------------------------------------------------------------------------------ failover

    def crash(self, lost: int) -> None:
        """The coordinator dies without a reply; another one, as in `elect`, begins to load."""

    def unload(self, now_ms: int) -> Answers:
        """The coordinator stops serving, and answers parked requests."""
        ...

    def elect(self, lost: int) -> None:
        """Another coordinator, whose log lacks the last ``lost`` records, is elected and begins to load."""

    def load(self, now_ms: int) -> Answers:
        """The log is read; nothing happens where no coordinator is loading."""
        ...

    def depose(self) -> None:
        """Another coordinator begins to load; the present one, now a zombie, goes on and cannot write any more."""

    def handle_at_zombie(self, token: Hashable, request: GroupRequest, now_ms: int) -> Answers:
        """Handle a request at the coordinator that was deposed.

        Raises:
            RebalanceCheckError: no coordinator was deposed.
        """
        ...

    def resign_zombie(self) -> None:
        """The coordinator that was deposed learns of it."""
