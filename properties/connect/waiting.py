"""Work of a worker that left waits for a delay."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentComputed,
    Event,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    WorkerConfigured,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.holdings import EAGER
from rebalance_check.properties.views.worker import NO_ERROR


class LostWorkWaitsViolated(Violation):
    """A leader assigned the work of a worker that left at once, without any delay."""


class _AfterARound(WorkerFold):
    """Two rounds of one leader, of which it completed the first, without a delay between them."""

    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft})

    def __init__(self, invariant: Invariant) -> None:
        gone: tuple[type[Event], ...] = (MemberStarted, MemberCrashed, MemberLeft)
        super().__init__(invariant, {**dict.fromkeys(gone, self.on_gone), ConnectAssignmentComputed: self.on_computed})
        self.compared = 0
        self._before: dict[str, ConnectAssignmentComputed] = {}

    def on_gone(self, event: MemberStarted | MemberCrashed | MemberLeft) -> None:
        """A new process remembers no round."""
        self._before.pop(event.member, None)

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """The leader compares the round with the one before, if it remembers it."""
        before = self._before.get(event.member)
        if event.error != NO_ERROR:
            return
        self._before[event.member] = event
        if before is None or event.completed != before.generation or EAGER in {event.protocol, before.protocol}:
            return
        forgotten = _works(before.revoked) & _works(event.claims)  # a revocation that did not happen ends the memory
        if not before.delay_ms and event.protocol == before.protocol and not forgotten:
            self.compare(before, event)

    @abstractmethod
    def compare(self, before: ConnectAssignmentComputed, event: ConnectAssignmentComputed) -> None:
        """What the claim says about the two."""


class _Waits(_AfterARound):
    needs = ((WorkerConfigured,),)

    def compare(self, before: ConnectAssignmentComputed, event: ConnectAssignmentComputed) -> None:
        """What a worker had that left is not placed at once."""
        configured = self.memory.of(event.member).configured
        lost = self._lost(before, event)
        if configured is None or not configured.scheduled_rebalance_max_delay_ms or not lost:
            return
        self.compared = (self.compared or 0) + 1
        early = sorted(lost & _works(event.assigned))
        if early:
            self.contradiction(
                f"{early[0]} is assigned in the round in which its worker is missed for the first time",
                (f"{event.member} computed generation {before.generation} at {STEP}; {early[0]} was then with a worker "
                 "that is gone since.", before),
                (f"it assigned {early[0]} to another one in generation {event.generation}, at {STEP}, without waiting "
                 f"for {configured.scheduled_rebalance_max_delay_ms} ms: contradiction.", event),
            )  # fmt: skip

    def _lost(self, before: ConnectAssignmentComputed, event: ConnectAssignmentComputed) -> set[str]:
        """What workers had after the round before that are gone, and that no worker claims."""
        gone = _gone(before, event)
        revoked = dict(before.revoked)
        had = {
            work for by in (before.claims, before.assigned) for who, some in by if who in gone
            for work in some if work not in revoked.get(who, ())
        }  # fmt: skip
        return (had & set(event.configured)) - _works(event.claims)


def _works(by_member: tuple[tuple[str, tuple[str, ...]], ...]) -> set[str]:
    return {work for _, some in by_member for work in some}


def _gone(before: ConnectAssignmentComputed, event: ConnectAssignmentComputed) -> set[str]:
    """The workers of the round before that are not in this one."""
    return {member for member, _ in before.assigned} - {member for member, _ in event.assigned}


_PREMISES: Final = (
    "the leader computed and completed the round before, under the same incremental protocol; another leader knows "
    "nothing of it",
    "what that round revoked was given up, else the leader forgets its rounds",
)


LostWorkWaits: Final = Invariant(
    name="lost_work_waits",
    family="connect_rounds",
    claim="a leader does not assign the work of a worker that left in the round in which it misses it first",
    source="KIP-415, scheduled.rebalance.max.delay.ms; IncrementalCooperativeAssignor.handleLostAssignments",
    premises=_PREMISES,
    exempted_by=(MemberStarted, WorkerConfigured),
    violation=LostWorkWaitsViolated,
    fold=_Waits,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", scheduled_rebalance_max_delay_ms=1000)
    ConnectAssignmentComputed(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, configured=("c",), assigned=(("a", ()), ("b", ("c",))))
    ConnectAssignmentComputed(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, configured=("c",), assigned=(("a", ("c",)),), completed=1)
"""

CLAIMS: Final = (LostWorkWaits,)
"""In the order in which reports name them."""
