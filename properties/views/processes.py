"""Where a process begins and ends."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import Event, MemberCrashed, MemberLeft, MemberStarted

PROCESS: Final[tuple[type[Event], ...]] = (MemberStarted, MemberCrashed, MemberLeft)
"""With each of these a process begins or ends, and the memory of the one before it is over."""
