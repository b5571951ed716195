"""The settings of a herder that its group does not concern (``DistributedConfig``); times in ms."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@dataclass(frozen=True, slots=True, kw_only=True)
class HerderConfig:
    """``key_ttl_ms`` is ``inter.worker.key.ttl.ms``, ``key_algorithm`` ``inter.worker.key.generation.algorithm``,
    ``key_bytes`` the length of the keys that it makes; ``exactly_once`` is ``exactly.once.source.support``.
    ``topic_tracking`` is ``topic.tracking.enable``, ``topic_tracking_reset`` ``topic.tracking.allow.reset`` (KIP-558).

    Raises: `RebalanceCheckError` for a negative time, and for keys without a byte.
    """

    key_ttl_ms: int = 3_600_000
    key_algorithm: str = "HmacSHA256"
    key_bytes: int = 32
    exactly_once: ExactlyOnce = ExactlyOnce.DISABLED
    topic_tracking: bool = True
    topic_tracking_reset: bool = True

    def __post_init__(self) -> None:
        if self.key_ttl_ms < 0:
            raise RebalanceCheckError(f"key_ttl_ms is {self.key_ttl_ms}: choose 0 (no rotation) or more milliseconds")
        if self.key_bytes < 1:
            raise RebalanceCheckError(f"key_bytes is {self.key_bytes}: choose 1 or more")
