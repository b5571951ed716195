"""The incarnation of the coordinator to which a member's events belong, for clients that show the node they talk to.

The harness sees who leads the group's log and in which leader epoch (`CoordinatorElected`), a client shows which node
it takes for its coordinator (`CoordinatorFound`). Together they tell the incarnation of a generation; for a client that
shows no node it stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    CoordinatorElected,
    CoordinatorFound,
    Event,
    GenerationEvent,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION

NOTICED_WITHIN_MS: Final = 500
"""How much later than a client the harness may notice an election: it looks ten times a second."""


def with_incarnations(history: Sequence[Event]) -> Iterator[Event]:
    """The history with the incarnation of each generation that a member speaks for, where it can be known."""
    elected = [event for event in history if isinstance(event, CoordinatorElected)]
    node_of: dict[str, int] = {}
    for event in history:
        if isinstance(event, CoordinatorFound):
            node_of[event.member] = event.node
        if isinstance(event, GenerationEvent) and event.generation != NO_GENERATION:
            incarnation = _incarnation(elected, node_of.get(event.member), event.time_ms)
            yield replace(event, incarnation=incarnation)
        else:
            yield event


def _incarnation(elected: Sequence[CoordinatorElected], node: int | None, time_ms: int) -> int:
    """The last epoch in which ``node`` was seen to lead by then; its first one if no event had shown it yet."""
    of_node = [event for event in elected if event.node == node]
    so_far = [event.incarnation for event in of_node if event.time_ms <= time_ms + NOTICED_WITHIN_MS]
    if so_far:
        return max(so_far)
    return min((event.incarnation for event in of_node), default=UNKNOWN_INCARNATION)
