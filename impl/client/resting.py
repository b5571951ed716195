"""What a member shows of itself when its group is at rest: what is still under way, and what it would join with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final, TypedDict

from rebalance_check.impl.client.events import api_of
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.client.joining import Joining
from rebalance_check.impl.protocol.resting_state import state_of
from rebalance_check.model.vocabulary.events import MemberRested

BY_HISTORY: Final = frozenset(
    {
        "config", "_config", "recorder", "metrics", "commit_sensor", "monitor", "listener", "member", "_random",
        "_now_ms", "_generation", "_next_correlation_id", "_in_flight", "_outbox", "_sent_claims", "_positions",
        "_owned", "node", "_failure", "_fenced",
        "_next_auto_commit_ms", "_assigned_from", "_group_topics",
    }
)  # fmt: skip
"""What counts, what measures, what is on its way, what the next poll raises, and what claims of their own are about.

A leader whose SyncGroup was refused goes on watching the topics of its group when another leads the next round."""


class Membership(TypedDict):
    """The fields of `MemberRested` that every kind of member fills."""

    member: str
    generation: int
    member_id: str
    state: str
    protocol: str
    offers: tuple[str, ...]
    group_instance_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    marks: tuple[str, ...]
    in_flight: tuple[tuple[str, int], ...]


class Resting(Joining):
    """Reads the member out as it is; nothing is kept for the purpose, and nothing changes."""

    by_history: ClassVar[frozenset[str]] = BY_HISTORY
    """Fields in which two members with the same wishes may differ."""

    def offers(self) -> tuple[str, ...]:
        """The names of the protocols that a JoinGroup would list now, most preferred first; empty: unknown."""
        return ()

    def marks(self) -> Iterator[str]:
        """What is under way or waited for, each as a short sentence; nothing where the member is at rest."""
        if self._state is not MemberState.STABLE:
            yield f"is {self._state}"
        if self._rejoin_needed:
            yield f"wants to join again ({self._rejoin_reason or 'no reason given'})"
        elif self._rejoin_reason is not None:
            yield f"keeps a reason to join again: {self._rejoin_reason}"
        if self._join is not None:
            yield "has an attempt to join under way"
        if not self._needs_join_prepare:
            yield "would join again without giving anything up first"
        yield from self._unfinished()

    def _unfinished(self) -> Iterator[str]:
        """What was not read, not sent, not found or not raised yet."""
        if self._unread:
            yield f"has not read {len(self._unread)} replies"
        if self._outbox:
            yield f"has not sent {len(self._outbox)} requests"
        if self._lookup.node is None or self._lookup.in_flight is not None:
            yield "looks for its coordinator"
        if self._failure is not None or self._lookup.failure is not None:
            yield f"has not raised a failure: {self._failure or self._lookup.failure}"

    def in_flight(self, now_ms: int) -> tuple[tuple[str, int], ...]:
        """The requests without a reply, oldest first, each with the ms since it was sent."""
        return tuple((api_of(sent.request), now_ms - sent.at_ms) for sent in self._in_flight.values())

    def rested(self, now_ms: int, *, is_busy: bool) -> MemberRested:
        """What the member holds now."""
        return MemberRested(**self.membership_at_rest(now_ms), is_busy=is_busy)

    def remembered(self, now_ms: int) -> dict[str, str]:
        """Every field of the member, to compare two runs."""
        return state_of(self, now_ms, but=self.by_history)

    def membership_at_rest(self, now_ms: int) -> Membership:
        """What every kind of member says of its membership."""
        generation, config = self._generation, self.config
        return {
            "member": self.member,
            "generation": generation.generation_id,
            "member_id": generation.member_id,
            "state": self._state.value,
            "protocol": generation.protocol or "",
            "offers": self.offers(),
            "group_instance_id": config.group_instance_id or "",
            "session_timeout_ms": config.session_timeout_ms,
            "rebalance_timeout_ms": config.rebalance_timeout_ms,
            "marks": tuple(self.marks()),
            "in_flight": self.in_flight(now_ms),
        }
