"""The settings of a herder that its group does not concern (``DistributedConfig``); times in ms."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.impl.connect.config.log import ExactlyOnce


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderConfig:
    """``key_ttl_ms`` is ``inter.worker.key.ttl.ms``, ``key_algorithm`` ``inter.worker.key.generation.algorithm``,
    ``key_bytes`` the length of the keys that it makes; ``exactly_once`` is ``exactly.once.source.support``.
    """

    key_ttl_ms: int = 3_600_000
    key_algorithm: str = "HmacSHA256"
    key_bytes: int = 32
    exactly_once: ExactlyOnce = ExactlyOnce.DISABLED
