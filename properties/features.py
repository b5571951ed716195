"""Features that a coordinator lacks, and events that a history lacks: invariants that rely on them are left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    EVENT_TYPES,
    AssignmentComputed,
    Event,
    GenerationStarted,
    SyncGroupReplied,
)


class Feature(StrEnum):
    """A part of the classic protocol that another coordinator may do without.

    ``LEADER``: the coordinator computes assignments, and no member does. ``GENERATIONS``: rebalances have no numbers,
    so each event is of the same generation. ``SYNC_GROUP``: the reply to JoinGroup has the assignment, and the group is
    Stable at once.
    """

    LEADER = "leader"
    GENERATIONS = "generations"
    SYNC_GROUP = "sync-group"


EVENTS_OF: Final[Mapping[Feature, frozenset[type[Event]]]] = {
    Feature.LEADER: frozenset({AssignmentComputed}),
    Feature.GENERATIONS: frozenset({GenerationStarted}),
    Feature.SYNC_GROUP: frozenset({SyncGroupReplied}),
}
"""The events that no history can hold where a feature is lacking."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """The ``features`` that a coordinator lacks, and the ``events`` that happen and are not recorded."""

    features: frozenset[Feature] = frozenset()
    events: frozenset[type[Event]] = frozenset()

    @property
    def absent(self) -> frozenset[type[Event]]:
        """All events that the history cannot hold."""
        return self.events.union(*(EVENTS_OF[feature] for feature in self.features))


def lacking(names: Iterable[str]) -> Lacking:
    """The features and events of these names.

    Raises: RebalanceCheckError for a name that is neither; it lists the names.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in set(Feature) and name not in EVENT_TYPES:
            similar = get_close_matches(name, [*Feature, *EVENT_TYPES], 1)
            meant = f"; did you mean {similar[0]}?" if similar else ""
            raise RebalanceCheckError(
                f"{name!r} is no feature of a coordinator and no event{meant}: choose from {', '.join(Feature)}, "
                "or name an event of the vocabulary that is not recorded"
            )
    features = frozenset(Feature(name) for name in wanted if name in set(Feature))
    return Lacking(features, frozenset(EVENT_TYPES[name] for name in wanted if name in EVENT_TYPES))
