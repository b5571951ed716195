"""A settled group remembers what a new one with the same wishes remembers, and nothing else."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import Event, RestingStateRead
from rebalance_check.properties.invariants.rest_members import FAMILY, SETTLED
from rebalance_check.properties.kinds import Fold, Invariant, Kind
from rebalance_check.properties.verdict import STEP, Violation


class RestIsLikeNewViolated(Violation):
    """A member or the coordinator of a settled group remembers something that a new group does not."""


class _LikeNew(Fold):
    """What the subjects of each role remember in the new group, by field."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RestingStateRead: self.on_read})
        self.compared = 0
        self._new: dict[tuple[str, str], dict[str, RestingStateRead]] = {}
        self._roles: dict[str, RestingStateRead] = {}

    def on_read(self, event: RestingStateRead) -> None:
        """The new group comes first; then each field must have a value that it has there in the same role."""
        if event.is_new:
            self._roles[event.role] = event
            for field, value in event.state:
                self._new.setdefault((event.role, field), {}).setdefault(value, event)
            return
        known = self._roles.get(event.role)
        if known is None:
            return
        self.compared = (self.compared or 0) + 1
        for field, value in event.state:
            expected = self._new.get((event.role, field), {})
            if value not in expected:
                self._differs(event, field, value, expected, known)

    def _differs(
        self, event: RestingStateRead, field: str, value: str, expected: dict[str, RestingStateRead], known: Event
    ) -> None:
        elsewhere = " or ".join(sorted(expected)) or "no such field"
        self.contradiction(
            f"{event.subject} ({event.role}) is left with {field} = {value}; in a new group it is {elsewhere}",
            (f"in a new group that wishes the same, {field} of the {event.role} is {elsewhere} at {STEP}.", known),
            (f"{field} of {event.subject}, which is {event.role}, is {value} at {STEP}.", event),
        )


RestIsLikeNew: Final = Invariant(
    name="rest_is_like_new",
    family=FAMILY,
    claim="what members and coordinator of a settled group remember is what those of a new group with the same wishes "
    "remember, but for ids and for who has what; what the stores of a settled worker hold is what a new reader of the "
    "same topics holds",
    source="the resting state of a group is a function of its members, their settings, subscriptions and topics",
    premises=(
        SETTLED,
        "the new group (is_new) has as many members, with the same settings and wishes, and is read first",
        "fields that count, measure or name what is on its way are left out by who reads the state",
        "of topics that were compacted only what does not depend on the records that are gone",
    ),
    violation=RestIsLikeNewViolated,
    fold=_LikeNew,
    kind=Kind.LIVENESS,
)
"""What members and coordinator of a settled group remember is what those of a new group with the same wishes remember.

The smallest history that breaks it::

    RestingStateRead(subject="m0", role="follower", state=(("assigned_from", "None"),), is_new=True)
    RestingStateRead(subject="m1", role="follower", state=(("assigned_from", "t: 2"),))
"""

CLAIMS: Final = (RestIsLikeNew,)
"""In the order in which reports name them."""
