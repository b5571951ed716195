"""A member at an instant: its state, and the generation it speaks for."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.ids import NO_GENERATION


class MemberState(StrEnum):
    """``AbstractCoordinator.MemberState``."""

    UNJOINED = "UNJOINED"
    PREPARING_REBALANCE = "PREPARING_REBALANCE"
    """JoinGroup was sent."""
    COMPLETING_REBALANCE = "COMPLETING_REBALANCE"
    """JoinGroup was answered, SyncGroup was sent."""
    STABLE = "STABLE"


class Generation(NamedTuple):
    """A generation as a member holds it. Equality over all three decides whether an answer still concerns the member.

    A member may have an id without a generation: after MEMBER_ID_REQUIRED, or after ILLEGAL_GENERATION.
    """

    generation_id: int
    member_id: str
    protocol: str | None

    @property
    def reset(self) -> bool:
        """It belongs to no generation; a member id may be left (``hasGenerationReset``)."""
        return self.generation_id == NO_GENERATION and self.protocol is None

    def __str__(self) -> str:
        """``generation 3 of m0-1 (range)``, or ``no generation`` with the id that is left."""
        number = "no generation" if self.generation_id == NO_GENERATION else f"generation {self.generation_id}"
        of = f" of {self.member_id}" if self.member_id else ""
        by = f" ({self.protocol})" if self.protocol else ""
        return f"{number}{of}{by}"


NO_MEMBERSHIP: Final = Generation(NO_GENERATION, "", None)
"""``Generation.NO_GENERATION``: neither a generation nor a member id."""
