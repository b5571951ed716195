"""A consumer's view of its membership at one instant, and how its commits end."""

from __future__ import annotations

from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.ids import NO_GENERATION

UNKNOWN_NODE: Final = -1


class Membership(NamedTuple):
    """A consumer's view of its place in the group, read at once; ``settled``: its last rebalance is complete,
    ``coordinator``: the node that it takes for its coordinator."""

    generation: int = NO_GENERATION
    member_id: str = ""
    settled: bool = False
    coordinator: int = UNKNOWN_NODE


class Committed(NamedTuple):
    """How the commit of one partition ended: Kafka's name of the error, ``NONE``, or None where no answer says."""

    partition: str
    offset: int
    error: str | None
