"""The longest timeouts that the members of a group asked for: what deadlines are computed from. All are in ms."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    IncarnationStarted,
    MemberStarted,
    RequestIssued,
    RequestParked,
)
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.steps import rebalance_timeout_of

WRITE_MS: Final = 5_000
"""How long a coordinator waits for a write to the log, by default (``offsets.commit.timeout.ms``)."""

GRACE_MS: Final = 5_000 + WRITE_MS
"""The time of a deadline on top of the timeouts: that which a client gives its JoinGroup (``JOIN_GROUP_TIMEOUT_LAPSE``
of ``AbstractCoordinator``), and a write to the log."""


class Timeouts(Memory):
    """The longest timeouts of a group so far, 0 where no event says any.

    Nothing is known of a group that was loaded with members whose timeouts stand nowhere in the history.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                MemberStarted: self._on_started,
                RequestParked: self._on_parked,
                RequestIssued: self._on_issued,
                IncarnationStarted: self._on_incarnation,
                CoordinatorConfigured: self._on_configured,
            }
        )
        self._rebalance = self._session = self._initial_delay = 0
        self._are_partial = False

    def join_phase(self) -> int:
        """How long a join phase may take, 0 for unknown; the first one has ``group.initial.rebalance.delay.ms``."""
        sync_ms = self.sync_phase()
        return max(sync_ms, self._initial_delay + GRACE_MS) if sync_ms else 0

    def sync_phase(self) -> int:
        """How long a sync phase may take, 0 for unknown."""
        return self._rebalance + GRACE_MS if self._rebalance and not self._are_partial else 0

    def two_rebalances(self) -> int:
        """How long it takes until silent members are removed and two rebalances are complete, 0 for unknown."""
        both = self.join_phase() + self.sync_phase()
        return self._session + 2 * both if both and self._session else 0

    def _note(self, rebalance_ms: int, session_ms: int) -> None:
        self._rebalance, self._session = max(self._rebalance, rebalance_ms), max(self._session, session_ms)

    def _on_started(self, event: MemberStarted) -> None:
        self._note(event.rebalance_timeout_ms, event.session_timeout_ms)

    def _on_parked(self, event: RequestParked) -> None:
        """A JoinGroup has its timeouts; version 0 has one for both."""
        if event.api == Api.JOIN_GROUP:
            self._note(event.rebalance_timeout_ms or event.session_timeout_ms, event.session_timeout_ms)

    def _on_issued(self, event: RequestIssued) -> None:
        if event.api == Api.JOIN_GROUP:
            self._note(rebalance_timeout_of(event), event.session_timeout_ms)

    def _on_incarnation(self, event: IncarnationStarted) -> None:
        """The record has the timeouts of its members."""
        self._are_partial |= bool(event.members) and not event.rebalance_timeout_ms and not self._rebalance
        self._note(event.rebalance_timeout_ms, event.session_timeout_ms)
        self._initial_delay = max(self._initial_delay, event.initial_rebalance_delay_ms)

    def _on_configured(self, event: CoordinatorConfigured) -> None:
        self._initial_delay = max(self._initial_delay, event.initial_rebalance_delay_ms)
