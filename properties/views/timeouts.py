"""The longest timeouts that the members of a group asked for: what deadlines are computed from. All are in ms."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    Event,
    IncarnationStarted,
    MemberStarted,
    RequestIssued,
    RequestParked,
)
from rebalance_check.properties.kinds import Handler, Memories, Memory
from rebalance_check.properties.views.deadlines import Deadlines
from rebalance_check.properties.views.steps import rebalance_timeout_of

WRITE_MS: Final = 5_000
"""How long a coordinator waits for a write to the log, by default (``offsets.commit.timeout.ms``)."""

GRACE_MS: Final = 5_000 + WRITE_MS
"""What a deadline has on top of the timeouts: what a client gives its JoinGroup (``JOIN_GROUP_TIMEOUT_LAPSE`` of
``AbstractCoordinator``), and a write to the log."""


class Timeouts(Memory):
    """The longest timeouts of a group so far, 0 where no event says any.

    ``initial_delay`` is ``group.initial.rebalance.delay.ms``. Nothing is known of a group that was loaded with members
    whose timeouts stand nowhere in the history.
    """

    def __init__(self, deadlines: Deadlines) -> None:
        self.rebalance = 0
        self.session = 0
        self.initial_delay = 0
        self._deadlines = deadlines
        self._are_partial = False
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_timeouts,
            RequestParked: self.on_parked,
            RequestIssued: self.on_issued,
            IncarnationStarted: self.on_incarnation,
            CoordinatorConfigured: self.on_configured,
        }
        super().__init__(handlers)

    @classmethod
    def begin(cls, memories: Memories) -> Timeouts:
        """Built on the deadlines that are computed from them."""
        return cls(Deadlines.among(memories))

    def join_phase(self) -> int:
        """How long a join phase may take, 0 for unknown."""
        return self._with_grace(max(self.rebalance, self.initial_delay) if self.rebalance else 0)

    def sync_phase(self) -> int:
        """How long a sync phase may take, 0 for unknown."""
        return self._with_grace(self.rebalance)

    def two_rebalances(self) -> int:
        """How long it takes until silent members are removed and two rebalances are complete, 0 for unknown."""
        both = self.join_phase() + self.sync_phase()
        return self.session + 2 * both if both and self.session else 0

    def _with_grace(self, timeout_ms: int) -> int:
        return timeout_ms + GRACE_MS if timeout_ms and not self._are_partial else 0

    def on_timeouts(self, event: MemberStarted) -> None:
        """A process says what it is configured with."""
        self._note(event.rebalance_timeout_ms, event.session_timeout_ms)

    def on_parked(self, event: RequestParked) -> None:
        """A JoinGroup has its timeouts; version 0 has one for both."""
        if event.api == Api.JOIN_GROUP:
            self._note(event.rebalance_timeout_ms or event.session_timeout_ms, event.session_timeout_ms)

    def on_issued(self, event: RequestIssued) -> None:
        """The same in a scenario."""
        if event.api == Api.JOIN_GROUP:
            self._note(rebalance_timeout_of(event), event.session_timeout_ms)

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """The record has the timeouts of its members."""
        if event.members and not event.rebalance_timeout_ms and not self.rebalance:
            self._are_partial = True
        self._note(event.rebalance_timeout_ms, event.session_timeout_ms)
        self.initial_delay = max(self.initial_delay, event.initial_rebalance_delay_ms)

    def on_configured(self, event: CoordinatorConfigured) -> None:
        """The broker's own setting."""
        self.initial_delay = max(self.initial_delay, event.initial_rebalance_delay_ms)

    def _note(self, rebalance_ms: int, session_ms: int) -> None:
        if rebalance_ms > self.rebalance or session_ms > self.session:
            self.rebalance, self.session = max(self.rebalance, rebalance_ms), max(self.session, session_ms)
            self._deadlines.recompute()
