"""What makes the leader of a consumer group join again: its assignment was made from what is not so any more."""

import pytest

from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback


def leader_in(environment: Loopback, rack: str | None) -> ConsumerCoordinator:
    config = ClientConfig(group_id="g", client_id="m0", session_timeout_ms=10_000, rebalance_timeout_ms=30_000)

    def build(recorder: Recorder) -> ConsumerCoordinator:
        made = ConsumerCoordinator(
            config,
            recorder,
            member="m0",
            topics=("t",),
            assignors=[RangeAssignor()],
            partitions_per_topic={},
            rack=rack,
        )
        made.update_metadata({"t": 1}, {"t": [{"a", "b"}]})
        return made

    environment.add(build, group="g", member="m0")
    leader = environment.clients["m0"]
    assert isinstance(leader, ConsumerCoordinator)
    environment.run(1_000)
    return leader


def joins(leader: ConsumerCoordinator) -> float:
    return float(leader.metric_values(0)["join-total"])


@pytest.mark.parametrize(("rack", "joined"), [("a", 2), (None, 1)])
def test_a_leader_with_a_rack_joins_again_when_replicas_moved(rack: str | None, joined: int) -> None:
    environment = Loopback()
    leader = leader_in(environment, rack)
    leader.update_metadata({"t": 1}, {"t": [{"b", "a"}]})
    environment.run(1_000)
    assert joins(leader) == 1
    leader.update_metadata({"t": 1}, {"t": [{"b", "c"}]})
    environment.run(1_000)
    assert joins(leader) == joined
