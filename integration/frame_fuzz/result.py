"""The result of random frames: how many were answered, how a client was served meanwhile, and the findings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

SERVED_WITHIN_MS: Final = 250.0
"""The 99th percentile of the waits that a well-behaved client may have, in ms."""


class Fate(StrEnum):
    """The fate of a frame."""

    ANSWERED = "answered"
    CLOSED = "connection closed"
    WAITING = "not answered yet"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not happen: ``frame`` is the number of the frame within its seed, -1 behind the last."""

    seed: int
    frame: int
    what: str
    sent: bytes = b""

    @property
    def text(self) -> str:
        """One line."""
        where = (
            f"seed {self.seed}, frame {self.frame}" if self.frame >= 0 else f"seed {self.seed}, after its last frame"
        )
        return f"{where}: {self.what}" + (f" (sent {self.sent[:200].hex()})" if self.sent else "")


@dataclass(slots=True)
class FrameRun:
    """The figures of a run; latencies and turns in ms. ``longest_turn_ms`` is the time that the event loop computed."""

    fates: Counter[Fate] = field(default_factory=Counter)
    latencies_ms: list[float] = field(default_factory=list)
    longest_turn_ms: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def frames(self) -> int:
        """How many frames were sent."""
        return self.fates.total()

    def add(self, other: FrameRun) -> None:
        """Take in the figures of another run."""
        self.fates += other.fates
        self.latencies_ms += other.latencies_ms
        self.longest_turn_ms = max(self.longest_turn_ms, other.longest_turn_ms)
        self.findings += other.findings
        self.seconds += other.seconds

    def served_ms(self, share: float) -> float:
        """The longest wait of the well-behaved client in this share of its requests; 0 without any."""
        ordered = sorted(self.latencies_ms)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0
