"""The releases whose Connect classes run in lockstep with ours; ``-k 4.3.1`` chooses one of them."""

import pytest

pytest.importorskip("kafka", reason="the releases are found as those of virtual Kafka are, with the extra 'brokers'")

from rebalance_check.integration.virtual import Release, find_release


@pytest.fixture(scope="session", params=["4.3.1", "3.9.2"])
def release(request: pytest.FixtureRequest) -> Release:
    return find_release(f"virtual:{request.param}")
