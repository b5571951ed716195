"""How the members of a live run are set up."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rebalance_check.model.errors import RebalanceCheckError


class LiveProtocol(StrEnum):
    """The assignor of a live group: range (EAGER), or cooperative-sticky (COOPERATIVE)."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSettings:
    """What every member of a live group has in common; times in ms.

    A member whose process is stopped for longer than ``session_timeout_ms`` becomes a zombie; one that does not poll
    for ``max_poll_interval_ms``, which is also the rebalance timeout, leaves. ``time_scale`` shortens the pauses of a
    churn schedule, which are drawn for virtual time. The shorter ``poll_timeout_ms``, the more polls end in the middle
    of a join; with short ones kafka-python was seen to stay in it for ever (TRACK_RECORD.md).

    ``forget_claims_on_loss`` mends kafka-python's cooperative-sticky assignor, which goes on claiming partitions that
    its member has lost (a leader may then grant them while their new owner still holds them). Off by default: real
    clients are what a live run is about.
    """

    protocol: LiveProtocol = LiveProtocol.EAGER
    session_timeout_ms: int = 1_000
    heartbeat_interval_ms: int = 100
    max_poll_interval_ms: int = 3_000
    poll_timeout_ms: int = 500
    commit_interval_ms: int = 200
    settle_timeout_ms: int = 30_000
    time_scale: float = 0.1
    forget_claims_on_loss: bool = False

    def __post_init__(self) -> None:
        if self.heartbeat_interval_ms * 2 > self.session_timeout_ms:
            raise RebalanceCheckError(
                f"heartbeat_interval_ms is {self.heartbeat_interval_ms} and session_timeout_ms "
                f"{self.session_timeout_ms}: let a session hold at least two heartbeats"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberOrder:
    """What one member process is told when it starts."""

    bootstrap: str
    group: str
    topic: str
    member: str
    recording: str
    settings: LiveSettings
