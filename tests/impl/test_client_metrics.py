"""What a member measures of itself, under the names that Kafka gives it."""

import math

from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.metrics import WINDOW_MS, CoordinatorMetrics, Sensor
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback

OF_KAFKA = {
    "heartbeat-response-time-max", "heartbeat-rate", "heartbeat-total", "join-time-avg", "join-time-max", "join-rate",
    "join-total", "sync-time-avg", "sync-time-max", "sync-rate", "sync-total", "rebalance-latency-avg",
    "rebalance-latency-max", "rebalance-latency-total", "rebalance-total", "rebalance-rate-per-hour",
    "failed-rebalance-total", "failed-rebalance-rate-per-hour", "last-rebalance-seconds-ago",
    "last-heartbeat-seconds-ago",
}  # fmt: skip
OF_CONSUMERS = {"commit-latency-avg", "commit-latency-max", "commit-rate", "commit-total", "assigned-partitions"}


def group(delay_ms: int = 0) -> tuple[Loopback, ConsumerCoordinator]:
    environment = Loopback(GroupConfig(initial_rebalance_delay_ms=delay_ms))
    config = ClientConfig(group_id="g", client_id="m0", session_timeout_ms=10_000, rebalance_timeout_ms=30_000)

    def build(recorder: Recorder) -> ConsumerCoordinator:
        return ConsumerCoordinator(
            config, recorder, member="m0", topics=("t",), assignors=[RangeAssignor()], partitions_per_topic={"t": 2}
        )

    environment.add(build, group="g", member="m0")
    client = environment.clients["m0"]
    assert isinstance(client, ConsumerCoordinator)
    return environment, client


def test_before_anything_happened_there_is_nothing_to_average() -> None:
    values = CoordinatorMetrics().values(0)

    assert set(values) == OF_KAFKA
    assert values["last-heartbeat-seconds-ago"] == values["last-rebalance-seconds-ago"] == -1
    assert math.isnan(values["join-time-avg"])
    assert math.isnan(values["heartbeat-response-time-max"])
    assert {values[name] for name in OF_KAFKA if name.endswith(("-rate", "-total", "per-hour"))} == {0.0}


def test_a_consumer_has_the_metrics_of_kafkas_consumer_coordinator() -> None:
    _, client = group()

    assert set(client.metric_values(0)) == OF_KAFKA | OF_CONSUMERS


def test_a_join_is_measured_from_the_request_to_its_answer() -> None:
    environment, client = group(delay_ms=3_000)
    environment.run(5_000)
    values = client.metric_values(environment.now_ms)

    assert (values["join-total"], values["sync-total"], values["rebalance-total"]) == (1, 1, 1)
    assert values["join-time-max"] == 3_000
    assert values["sync-time-max"] == 0
    assert values["rebalance-latency-total"] == 3_001  # from the attempt before, which got the member id
    assert values["assigned-partitions"] == 2


def test_getting_a_member_id_counts_as_a_failed_rebalance__as_in_kafka() -> None:
    environment, client = group()
    environment.run(1_000)

    assert client.metric_values(environment.now_ms)["failed-rebalance-total"] == 1


def test_heartbeats_and_commits_are_counted() -> None:
    environment, client = group()
    environment.run(10_500)
    client.commit({TopicPartition("t", 0): 5}, environment.now_ms)
    environment.exchange()
    values = client.metric_values(environment.now_ms)

    assert values["heartbeat-total"] == 3
    assert values["last-heartbeat-seconds-ago"] == 1
    assert (values["commit-total"], values["commit-latency-avg"]) == (1, 0)


def test_old_values_are_forgotten__but_stay_in_the_totals() -> None:
    sensor = Sensor()
    sensor.record(500, now_ms=0)
    sensor.record(100, now_ms=WINDOW_MS - 1)

    assert (sensor.average(WINDOW_MS - 1), sensor.maximum(WINDOW_MS - 1)) == (300, 500)
    assert (sensor.average(WINDOW_MS), sensor.maximum(WINDOW_MS)) == (100, 100)
    assert math.isnan(sensor.average(3 * WINDOW_MS))
    assert (sensor.total, sensor.sum_ms) == (2, 600)


def test_a_rate_is_counted_over_half_a_minute_at_least() -> None:
    sensor = Sensor()
    sensor.record(1, now_ms=1_000)

    assert sensor.rate(1_000) == 1 / 30
    assert sensor.rate(46_000) == 1 / 45
    assert sensor.rate(46_000, per_ms=3_600_000) == 80
    assert sensor.rate(200_000) == 0
