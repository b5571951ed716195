"""How long a client waits before it tries again (``org.apache.kafka.common.utils.ExponentialBackoff``)."""

from __future__ import annotations

from math import log
from random import Random
from typing import Final

JITTER: Final = 0.2
"""``RETRY_BACKOFF_JITTER`` and ``RECONNECT_BACKOFF_JITTER``: a wait is up to so much shorter or longer, by chance."""


class ExponentialBackoff:
    """Waits that double from ``first_ms`` to ``most_ms``; ``random`` decides the jitter, without it there is none."""

    __slots__ = ("_attempts", "_exponent", "_first_ms", "_most_ms", "_random")

    def __init__(self, first_ms: int, most_ms: int, random: Random | None = None) -> None:
        self._first_ms = first_ms
        self._most_ms = most_ms
        self._random = random
        # as Kafka computes it: by log2 the longest wait of Connect's defaults would be 999 ms, not 1,000
        self._exponent = log(most_ms / max(first_ms, 1)) / log(2) if most_ms > first_ms else 0.0
        self._attempts = 0

    def next_ms(self) -> int:
        """How long to wait after one more failure in a row, in ms, at most ``most_ms``."""
        if not self._exponent:
            return self._first_ms
        term = self._first_ms * 2 ** min(self._attempts, self._exponent)
        self._attempts += 1
        factor = 1.0 if self._random is None else self._random.uniform(1 - JITTER, 1 + JITTER)
        return min(int(term * factor), self._most_ms)

    def reset(self) -> None:
        """It succeeded: the next wait is a first one."""
        self._attempts = 0
