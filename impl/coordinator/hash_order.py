"""The places where Kafka's answer depends on the order of a hash map, resolved here by one rule and nowhere else."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rebalance_check.impl.protocol.java_order import hash_map_order


class Choices:
    """Resolves what Kafka leaves to hash order. A subclass may steer it, for example along a model's choices."""

    __slots__ = ()

    def leader(self, candidates: Sequence[str]) -> str:
        """The new leader among ``candidates`` (member ids in order of admission, never empty): the first admitted."""
        return candidates[0]

    def protocol(self, candidates: Sequence[str]) -> str:
        """The winner of a tied vote among ``candidates`` (names, never empty, in the order in which Java's map of votes
        is iterated): the first, as in Kafka."""
        return candidates[0]

    def in_turn(self, members: Collection[str]) -> Sequence[str]:
        """The order in which members (ids in order of admission) get sessions that begin at one instant: in which those
        of equal length end, too."""
        return tuple(members)


class JavaChoices(Choices):
    """Decides as Java's hash maps do, also who leads next and whose session ends first: for comparisons with Kafka that
    go on for long.

    The table of a map that once had more than twelve members is larger than the one assumed here.
    """

    __slots__ = ()

    def leader(self, candidates: Sequence[str]) -> str:
        """The first in the order in which Java iterates over the members."""
        return hash_map_order(candidates)[0]

    def in_turn(self, members: Collection[str]) -> Sequence[str]:
        """The order in which Java iterates over the members."""
        return hash_map_order(members)
