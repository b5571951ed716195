"""Where the workers of a simulated cluster are reached: each on a host of its own, or two on every host."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.runtime.seeds import stream

PORT: Final = 8083
"""Connect's default of ``listeners``."""

SHARING: Final = 0.4
"""The share of runs in which workers share hosts."""


def address_of(seed: int, name: str, number: int) -> str:
    """``m2:8083``, the worker id of worker ``number``; where hosts are shared ``m2:8084``, if ``name`` is m3."""
    if stream(seed, "hosts").random() >= SHARING:
        return f"{name}:{PORT}"
    return f"{name.removesuffix(str(number))}{number - number % 2}:{PORT + number % 2}"
