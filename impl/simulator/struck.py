"""The kinds of fault that struck in a run, and the status that the group had then."""

from __future__ import annotations

from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.impl.simulator.member_state import NEEDED_FAULT
from rebalance_check.impl.simulator.schedule import UNUSUAL
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.model.vocabulary.status_course import NO_GROUP, status_after


class Struck:
    """Follows the status of the group, and notes striking faults; a run without a group is in none all the time."""

    def __init__(self) -> None:
        self._status = NO_GROUP
        self._noted: set[tuple[FaultKind, str]] = set()

    def observe(self, event: Event) -> None:
        """Take the next event of the run."""
        self._status = status_after(event, self._status)

    def note(self, kind: FaultKind) -> None:
        """A fault of this kind strikes now."""
        self._noted.add((kind, self._status))

    def note_churn(self, action: Action, plan: FaultPlan) -> None:
        """An action of the churn happens now, which may be that of several kinds."""
        for kind in plan.kinds:
            if _is_of(action, kind):
                self.note(kind)

    def noted(self) -> tuple[tuple[str, str], ...]:
        """Kinds and statuses, sorted."""
        return tuple(sorted((kind.value, status) for kind, status in self._noted))


def _is_of(action: Action, kind: FaultKind) -> bool:
    """Whether the fault is that such actions happen."""
    return NEEDED_FAULT.get(action.kind) is kind or any(
        each is action.kind and low <= action.choice <= high for each, low, high in UNUSUAL.get(kind, ())
    )
