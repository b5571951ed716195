"""In which mode each worker of a simulated cluster speaks Connect's protocol: all alike, mixed, or upgraded."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.impl.runtime.options import ClusterMode
from rebalance_check.impl.runtime.seeds import stream

UPGRADE: Final = (ConnectMode.EAGER, ConnectMode.COMPATIBLE, ConnectMode.SESSIONED)
"""The modes of a rolling upgrade, in its order."""


DRAWN_MODES: Final = tuple(mode for mode in ClusterMode if mode not in {ClusterMode.MIXED, ClusterMode.ANY})
"""All but ``mixed``, which Kafka's workers do not survive."""


def drawn_mode(seed: int, mode: ClusterMode) -> ClusterMode:
    """The mode of a run: the one asked for, or one of `DRAWN_MODES`."""
    return stream(seed, "connect mode").choice(DRAWN_MODES) if mode is ClusterMode.ANY else mode


def mode_of(seed: int, mode: ClusterMode, worker: int, step: int) -> ConnectMode:
    """The mode of worker number ``worker``; in an upgrade that of the place that its restarts have reached."""
    drawn = drawn_mode(seed, mode)
    if drawn is ClusterMode.UPGRADE:
        return UPGRADE[min(step, len(UPGRADE) - 1)]
    if drawn is ClusterMode.MIXED:
        return stream(seed, f"connect mode of {worker}").choice(tuple(ConnectMode))
    return ConnectMode.SESSIONED if drawn is ClusterMode.EXACTLY_ONCE else ConnectMode.parse(drawn.value)
