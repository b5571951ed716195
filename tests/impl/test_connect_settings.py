"""Settings of a Connect worker that cannot be meant are refused, with the value and the next move."""

from __future__ import annotations

from typing import Any

import pytest

from rebalance_check.impl.connect.herder.config import HerderConfig
from rebalance_check.impl.connect.workers.config import WorkerConfig
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@pytest.mark.parametrize(
    "name",
    [
        "scheduled_rebalance_max_delay_ms",
        "worker_sync_timeout_ms",
        "worker_unsync_backoff_ms",
        "task_shutdown_graceful_timeout_ms",
    ],
)
def test_a_negative_time_is_refused(name: str) -> None:
    none: dict[str, Any] = {name: 0}
    negative: dict[str, Any] = {name: -1}
    assert getattr(WorkerConfig(group_id="g", **none), name) == 0
    with pytest.raises(RebalanceCheckError, match=f"{name} is -1: choose 0 or more milliseconds"):
        WorkerConfig(group_id="g", **negative)


@pytest.mark.parametrize(("settings", "advice"), [({"key_ttl_ms": -1}, "choose 0"), ({"key_bytes": 0}, "choose 1 or")])
def test_session_keys_that_cannot_be_are_refused(settings: dict[str, Any], advice: str) -> None:
    with pytest.raises(RebalanceCheckError, match=advice):
        HerderConfig(**settings)
