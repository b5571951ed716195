"""The status of a classic group from event to event."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import Event, GroupStatusChanged, IncarnationEnded, IncarnationStarted
from rebalance_check.model.vocabulary.group_status import GroupStatus

NO_GROUP: Final = "no group"
"""The status where there is no group yet, none any more, or none in the whole run."""

STATUSES: Final = (NO_GROUP, *GroupStatus)
"""All that a group may be in when something happens."""

_OF_STATUS: Final = frozenset({GroupStatusChanged, IncarnationStarted, IncarnationEnded})


def status_after(event: Event, before: str) -> str:
    """The status of the group after ``event``, which was ``before``."""
    if type(event) not in _OF_STATUS:  # nearly every event, and each run asks for every one
        return before
    if isinstance(event, GroupStatusChanged):
        return event.to_status
    if isinstance(event, IncarnationStarted):
        return event.status or NO_GROUP
    return NO_GROUP if isinstance(event, IncarnationEnded) and not event.deposed else before
