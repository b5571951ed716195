"""Events of an assignment, from its leader to the partitions of a member (part of `model.vocabulary.events`)."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.event_base import GenerationEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentComputed(GenerationEvent):
    """The leader computed the assignment.

    For each member id: ``owned_partitions`` are those that its JoinGroup listed, ``owned_generations`` the generation
    of that list (KIP-792), ``wanted_topics`` the topics that it asked for (absent where the subject cannot see them),
    ``assignments`` the partitions that it gets, and, under the assignor ``sticky``, ``remembered_partitions`` and
    ``remembered_generations`` what its user data says of its last assignment (KIP-54).
    """

    protocol: str = ""
    owned_partitions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    owned_generations: tuple[tuple[str, int], ...] = ()
    assignments: tuple[tuple[str, tuple[str, ...]], ...] = ()
    remembered_partitions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    remembered_generations: tuple[tuple[str, int], ...] = ()
    wanted_topics: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsAssigned(GenerationEvent):
    """``onPartitionsAssigned``: the partitions added to what the member owns."""

    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsRevoked(GenerationEvent):
    """``onPartitionsRevoked``: the member gives up partitions that it owns; it may commit them until here.

    ``positions`` are the next offset to read of each of them, of which something was read (empty: unknown).
    """

    partitions: tuple[str, ...]
    positions: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsLost(GenerationEvent):
    """``onPartitionsLost``: another member may own the partitions already; this one must not commit them."""

    partitions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentCompleted(GenerationEvent):
    """The member completed the rebalance of ``generation`` and owns exactly ``owned``."""

    owned: tuple[str, ...]
