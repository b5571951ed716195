"""Holds the table of what is seen from outside to the recordings that the tests make."""

from __future__ import annotations

from collections.abc import Iterable

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.seen_from_outside import OUTSIDE, SEEN_IN


def assert_seen(kind: str, *histories: Iterable[Event]) -> None:
    """The histories, recordings of this kind, contain what the table says, and nothing that it does not know."""
    found = {type(event) for history in histories for event in history}
    missing, unknown = _names(SEEN_IN[kind] - found), _names(found - OUTSIDE)
    assert not missing, f"a recording of {kind} contains none of {missing}: correct the table, or the recorder"
    assert not unknown, f"a recording of {kind} contains {unknown}, which the table does not know: add them"


def _names(types: Iterable[type[Event]]) -> list[str]:
    return sorted(each.__name__ for each in types)
