"""A finding, and the thresholds of all rules.

Severities: *fault* is wrong whatever the load; *cost* works, but partitions stand still; *note* is worth knowing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rebalance_check.pipeline.diagnose.facts import Fact, Place
from rebalance_check.pipeline.diagnose.findings.rules import Rule

SHOWN: Final = 5
"""So many places of evidence has a finding at most."""


class Severity(StrEnum):
    """How bad."""

    FAULT = "fault"
    COST = "cost"
    NOTE = "note"


class Kind(StrEnum):
    """The kind of property that a fault breaks: the exit code depends on it."""

    SAFETY = "safety"
    LIVENESS = "liveness"
    NONE = ""


class Confidence(StrEnum):
    """How surely the sources say it."""

    SHOWN = "shown"
    DEDUCED = "deduced"


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer: ``title`` is the fault, ``cause`` its origin, ``remedy`` the setting, if not the rule's.

    ``more`` names the evidence that would tell more; ``deduced_from`` the assumption, where it is deduced.
    """

    rule: Rule
    severity: Severity
    group: str
    title: str
    cause: str
    remedy: str = ""
    since_ms: int | None = None
    until_ms: int | None = None
    generations: tuple[int, ...] = ()
    members: tuple[str, ...] = ()
    evidence: tuple[Place, ...] = ()
    confidence: Confidence = Confidence.SHOWN
    deduced_from: str = ""
    more: str = ""
    kind: Kind = Kind.NONE
    consequences: tuple[str, ...] = ()
    """The titles of findings that follow from this one."""

    @property
    def to_do(self) -> str:
        """The remedy of this case, or of the rule."""
        return self.remedy or self.rule.remedy


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The numbers of all rules, in milliseconds unless a name says otherwise."""

    window_ms: int = 600_000
    """Storms, flapping and pending ids are counted within this time."""
    storm_rebalances: int = 5
    """More in one window are a storm."""
    storm_share: float = 0.2
    """So much of a window spent in rebalances is a storm."""
    needless_share: float = 0.1
    """More needless rebalances than this are a cost."""
    join_ms: int = 10_000
    """A join phase that is longer is a cost: idle members learn of a rebalance within a heartbeat interval, 3 s."""
    join_share: float = 0.8
    """A member that takes more of the rebalance timeout is about to be evicted."""
    initial_delay_ms: int = 3_000
    """``group.initial.rebalance.delay.ms``, which prolongs the first join phase of a group."""
    flapping_ids: int = 3
    """More member ids of one client in a window are flapping."""
    pending_per_minute: float = 1.0
    """More ids that nobody uses are a client that cannot send its second JoinGroup."""
    heartbeat_share: float = 1 / 3
    """A longer heartbeat interval, as a part of the session timeout, leaves one lost heartbeat no second chance."""
    grace_ms: int = 5_000
    """So long after its timeout a phase that has not ended is stuck."""
    max_skew_ms: int | None = None
    """How far clocks that share no generation may differ, by the user's word; None: unknown."""
    session_timeout_ms: int = 45_000
    """Kafka's default since 3.0, where no source names the value."""
    rebalance_timeout_ms: int = 300_000
    """Kafka's default of ``max.poll.interval.ms``, where no source names the value."""


UNCOMPARED: Final = "their clocks share no generation and name no zone"
SAY_SKEW: Final = "--max-skew MS says how far their clocks may differ"


def places(facts: Iterable[Fact]) -> tuple[Place, ...]:
    """The places of the first facts, without repeats."""
    return tuple(dict.fromkeys(fact.place for fact in facts))[:SHOWN]


def seconds(ms: float) -> str:
    """A duration for people."""
    if abs(ms) < 1_000:
        return f"{ms:.0f} ms"
    if abs(ms) < 120_000:
        return f"{ms / 1_000:.1f} s"
    return f"{ms / 60_000:.1f} min"


def times(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
