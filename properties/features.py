"""What a coordinator may lack of the classic protocol, so that only what it has is judged."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class Feature(StrEnum):
    """A part of the classic protocol that another coordinator may do without."""

    LEADER = "leader"
    GENERATIONS = "generations"
    SYNC_GROUP = "sync-group"


def features(names: Iterable[str]) -> frozenset[Feature]:
    """The features with these names.

    Raises: RebalanceCheckError for a name that is none; it lists what there is.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in wanted if name not in set(Feature)]
    if unknown:
        raise RebalanceCheckError(f"{unknown[0]!r} is no feature of a coordinator: choose from {', '.join(Feature)}")
    return frozenset(Feature(name) for name in wanted)
