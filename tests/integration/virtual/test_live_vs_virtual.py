"""A broker on a socket and virtual Kafka get the same requests; a broker that answers otherwise is found."""

from collections.abc import Iterator

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.impl.scenarios.random_scenarios import timeless_scenario
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.brokers.counterpart import virtual_counterpart
from rebalance_check.integration.differential import ComparisonResult, hold_equal
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.virtual import VirtualKafka, find_release
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

SCENARIO = [
    "setting initial_rebalance_delay_ms=0 min_session_timeout_ms=100",
    "join a session=300000",
    "join a session=300000",
    "sync a 1 give=a:A",
    "join b version=3 session=300000",
    "join a session=300000",
    "sync b 2",
    "sync a 2 give=a:A,b:B",
    "heartbeat a 1",
    "commit a 2 offset=7",
    "fetch",
    "leave a b",
]
"""A scenario in which nothing is left to hash order."""


@pytest.fixture(scope="module")
def newest() -> Iterator[VirtualKafka]:
    with VirtualKafka(find_release("virtual:4.3.1")) as kafka:
        yield kafka


def compared_on(kafka: VirtualKafka, scenarios: list[list[str]], mutant: str = "") -> ComparisonResult:
    with planted(mutant), EmbeddedBroker({"t": 2}) as broker:
        return hold_equal(Broker(broker.bootstrap, "embedded"), kafka, scenarios)


@pytest.mark.virtual
def test_equal_coordinators_are_found_equal(newest: VirtualKafka) -> None:
    result = compared_on(newest, [SCENARIO, SCENARIO])

    assert result.parted == ()
    assert result.replies == 2 * (len(SCENARIO) - 1)


@pytest.mark.virtual
def test_a_wrong_answer_is_found__with_the_scenario_until_then(newest: VirtualKafka) -> None:
    (parted,) = compared_on(newest, [SCENARIO], "heartbeat-accepts-stale-generation").parted

    assert parted.scenario[-1] == "heartbeat a 1"
    assert "ILLEGAL_GENERATION" in parted.virtual
    assert "ILLEGAL_GENERATION" not in parted.live


@pytest.mark.virtual
def test_another_choice_of_leader_is_found(newest: VirtualKafka) -> None:
    """Ours elects by another rule than Kafka's hash order: replies are compared whole, the leader included."""
    parted = compared_on(newest, [timeless_scenario(seed, steps=24) for seed in range(64)]).parted

    assert parted
    assert all("leader" in each.live for each in parted)


def test_in_a_timeless_scenario_no_time_passes() -> None:
    lines = [line for seed in range(50) for line in timeless_scenario(seed)]

    assert [line for line in lines if line.split()[0] in {"advance", "hold", "fail", "failover", "delete"}] == []


def test_a_broker_of_unknown_release_has_no_virtual_kafka() -> None:
    with pytest.raises(RebalanceCheckError, match="cannot be found out"):
        virtual_counterpart(Broker("127.0.0.1:9092", "127.0.0.1:9092"))
