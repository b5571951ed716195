"""The draws for the churn of stores: once for the schedule, and the same when it happens."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from random import Random
from typing import TypeAlias

from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.model.vocabulary.actions import ActionKind

Draw: TypeAlias = tuple[ActionKind, float, Random]
"""The kind of a churn, a number from 0 up to 1, and the stream of all other draws."""


class ChurnDraws:
    """Draws by seed and number, from a stream of its own each; ``weights`` say how often each kind is drawn.

    A draw is kept until it happens, because to begin a stream takes longer than a step.
    """

    def __init__(self, name: str, weights: Mapping[ActionKind, int]) -> None:
        self._name = name
        self._kinds = tuple(weights)
        self._up_to = tuple(accumulate(weights.values()))
        self._ahead: dict[tuple[int, int], Draw] = {}

    def begin(self) -> None:
        """A schedule begins: unused draws of the one before are forgotten."""
        self._ahead.clear()

    def plan(self, seed: int, number: int) -> Draw:
        """The draw of this number, which is kept for `take`."""
        drawn = self._ahead[seed, number] = self.take(seed, number)
        return drawn

    def take(self, seed: int, number: int) -> Draw:
        """The draw of this number, when it happens; its stream stands behind the kind and the number."""
        drawn = self._ahead.pop((seed, number), None)
        if drawn is not None:
            return drawn
        random = stream(seed, f"{self._name} {number}")
        return random.choices(self._kinds, cum_weights=self._up_to)[0], random.random(), random
