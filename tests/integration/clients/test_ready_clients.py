"""Each ready client is built from its sources, and forms groups on the embedded broker: joins, leaves and a kill."""

import pytest

pytest.importorskip("kafka", reason="the ready clients in Python need the extra 'brokers'")

from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.kits.adapters.ready import ADAPTERS, adapter
from tests.integration.adapter_runs import RunningGroup

pytestmark = pytest.mark.clients

ALL = [(each.name, protocol) for each in ADAPTERS for protocol in each.protocols]


@pytest.mark.parametrize(("name", "protocol"), ALL)
def test_a_group_survives_a_member_that_leaves_and_one_that_is_killed(name: str, protocol: str) -> None:
    with EmbeddedBroker({"t": 6}) as broker, RunningGroup(adapter(name), broker.bootstrap, "t") as group:
        group.start("a", protocol)
        group.await_shared(6)
        group.start("b", protocol)
        group.start("c", protocol)
        group.await_shared(6)
        assert group.exit_code("a") == 0
        group.await_shared(6)
        group.kill("b")
        group.await_shared(6)
        assert group.exit_code("c") == 0
