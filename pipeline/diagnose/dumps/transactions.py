"""Commits within a transaction (KIP-98) count once its marker says so: until then a reader holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance_check.pipeline.diagnose.dumps.records import Read
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, Place

MOST: Final = 100_000
"""So many facts are held at most."""


@dataclass(slots=True)
class OpenTransactions:
    """The facts of transactions whose end has not been read, by producer id."""

    held: dict[int, list[Fact | NotUnderstood]] = field(default_factory=dict)
    count: int = 0
    dropped: int = 0

    def hold(self, producer: int, facts: Read) -> None:
        """Keep facts of an open transaction."""
        if self.count + len(facts) > MOST:
            self.dropped += len(facts)
            return
        self.held.setdefault(producer, []).extend(facts)
        self.count += len(facts)

    def end(self, producer: int, *, committed: bool) -> list[Fact | NotUnderstood]:
        """The facts of the transaction that ends; none of them if it is aborted."""
        facts = self.held.pop(producer, [])
        self.count -= len(facts)
        return facts if committed else []

    def left(self, place: Place) -> Read:
        """A note of the facts that are still held when the source ends: their fate is unknown."""
        unknown = self.count + self.dropped
        if not unknown:
            return ()
        why = f"{unknown} records belong to transactions whose end is not in the source: read the next segment, too"
        return (NotUnderstood(place, why),)
