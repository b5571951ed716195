"""A coordinator's calls of the code that uses it (KIP-795), and its close (part of `model.vocabulary.events`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.event_base import GenerationEvent, MemberEvent

ON_JOIN_PREPARE: Final = "onJoinPrepare"
PERFORM_ASSIGNMENT: Final = "performAssignment"
ON_JOIN_COMPLETE: Final = "onJoinComplete"
ON_LEAVE_PREPARE: Final = "onLeavePrepare"

FINISHED: Final = "finished"
UNFINISHED: Final = "unfinished"
"""It asks to be called again before the member goes on."""
RAISED: Final = "raised"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackStarted(GenerationEvent):
    """The member's coordinator calls its user: a consumer, a Connect worker, a leader election.

    ``callback`` is onJoinPrepare, performAssignment, onJoinComplete or onLeavePrepare. ``generation`` and ``member_id``
    are what it is called with: for onJoinPrepare and onLeavePrepare the membership that ends (-1 and "" after a reset).
    ``protocol`` is that of the generation, and ``assignment`` a text that is equal exactly where the bytes of the
    assignment are equal; each is empty where the callback takes none.
    """

    callback: str
    protocol: str = ""
    assignment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackEnded(MemberEvent):
    """The call came back.

    ``outcome``: finished, unfinished (it is to be called again, and the member waits so long), raised.
    """

    callback: str
    outcome: str = FINISHED


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberClosing(MemberEvent):
    """The application closes the member, which sends heartbeats no more; `MemberLeft` follows when that is over."""
