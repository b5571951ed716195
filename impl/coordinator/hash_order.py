"""The places where Kafka's answer depends on the order of a hash map, resolved here by one rule and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence


class Choices:
    """Resolves what Kafka leaves to hash order. A subclass may steer it, for example along a model's choices."""

    __slots__ = ()

    def leader(self, candidates: Sequence[str]) -> str:
        """The new leader among ``candidates`` (member ids in order of admission, never empty): the first admitted."""
        return candidates[0]

    def protocol(self, candidates: Sequence[str]) -> str:
        """The winner of a tied vote among ``candidates`` (names, never empty): the first in alphabetical order."""
        return min(candidates)
