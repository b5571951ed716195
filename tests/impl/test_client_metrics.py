"""A member's measurements of itself, under the names that Kafka gives them."""

import math

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.metrics import CoordinatorMetrics
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.metrics import WINDOW_MS, Metric, MetricGroup, Metrics, Sensor, Value
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.report.prometheus import MetricsCollector

RETRIED = "which may be composed of several failed re-trials until it succeeded"
EVENT = "each event is composed of several failed re-trials until it succeeded"
DESCRIBED = {
    "heartbeat-response-time-max": "The max time taken to receive a response to a heartbeat request",
    "heartbeat-rate": "The number of heartbeats per second",
    "heartbeat-total": "The total number of heartbeats",
    "join-time-avg": "The average time taken for a group rejoin",
    "join-time-max": "The max time taken for a group rejoin",
    "join-rate": "The number of group joins per second",
    "join-total": "The total number of group joins",
    "sync-time-avg": "The average time taken for a group sync",
    "sync-time-max": "The max time taken for a group sync",
    "sync-rate": "The number of group syncs per second",
    "sync-total": "The total number of group syncs",
    "rebalance-latency-avg": f"The average time taken for a group to complete a successful rebalance, {RETRIED}",
    "rebalance-latency-max": f"The max time taken for a group to complete a successful rebalance, {RETRIED}",
    "rebalance-latency-total":
        "The total number of milliseconds this consumer has spent in successful rebalances since creation",
    "rebalance-total": f"The total number of successful rebalance events, {EVENT}",
    "rebalance-rate-per-hour": f"The number of successful rebalance events per hour, {EVENT}",
    "failed-rebalance-total": "The total number of failed rebalance events",
    "failed-rebalance-rate-per-hour": "The number of failed rebalance events per hour",
    "last-rebalance-seconds-ago": "The number of seconds since the last successful rebalance event",
    "last-heartbeat-seconds-ago": "The number of seconds since the last coordinator heartbeat was sent",
}  # fmt: skip
"""``AbstractCoordinator.GroupCoordinatorMetrics`` of Kafka 4.3.1."""

OF_CONSUMERS = {
    "commit-latency-avg": "The average time taken for a commit request",
    "commit-latency-max": "The max time taken for a commit request",
    "commit-rate": "The number of commit calls per second",
    "commit-total": "The total number of commit calls",
    "assigned-partitions": "The number of partitions currently assigned to this consumer",
}
"""``ConsumerCoordinator.ConsumerCoordinatorMetrics``."""

READINGS: dict[str, dict[str, float]] = {
    "heartbeat": {"heartbeat-response-time-max": 75, "heartbeat-rate": 1 / 30, "heartbeat-total": 1},
    "join": {"join-time-avg": 50, "join-time-max": 70, "join-rate": 2 / 30, "join-total": 2},
    "sync": {"sync-time-avg": 52, "sync-time-max": 86, "sync-rate": 3 / 30, "sync-total": 3},
    "rebalance": {
        "rebalance-latency-avg": 55, "rebalance-latency-max": 100, "rebalance-latency-total": 220,
        "rebalance-total": 4, "rebalance-rate-per-hour": 480,
    },
    "failed_rebalance": {"failed-rebalance-total": 5, "failed-rebalance-rate-per-hour": 600},
}  # fmt: skip
"""By sensor the metrics that read it, each with its value after the recordings of `RECORDED`."""

RECORDED = {"heartbeat": [75], "join": [30, 70], "sync": [30, 40, 86], "rebalance": [20, 40, 60, 100],
            "failed_rebalance": [0, 0, 0, 0, 0]}  # fmt: skip


def group(delay_ms: int = 0, client_id: str = "m0") -> tuple[Loopback, ConsumerCoordinator]:
    environment = Loopback(GroupConfig(initial_rebalance_delay_ms=delay_ms))
    config = ClientConfig(group_id="g", client_id=client_id, session_timeout_ms=10_000, rebalance_timeout_ms=30_000)

    def build(recorder: Recorder) -> ConsumerCoordinator:
        return ConsumerCoordinator(
            config, recorder, member="m0", topics=("t",), assignors=[RangeAssignor()], partitions_per_topic={"t": 2}
        )

    environment.add(build, group="g", member="m0")
    client = environment.clients["m0"]
    assert isinstance(client, ConsumerCoordinator)
    return environment, client


def of_group(metrics: CoordinatorMetrics) -> dict[str, Value]:
    registry = Metrics()
    metrics.register(MetricGroup(registry, "g", {}))
    return registry.by_name(0)


def test_before_anything_happened_there_is_nothing_to_average() -> None:
    values = of_group(CoordinatorMetrics())

    assert values["last-heartbeat-seconds-ago"] == values["last-rebalance-seconds-ago"] == -1
    assert {name for name, value in values.items() if value != value} == {  # noqa: PLR0124 - not a number
        name for name in DESCRIBED if name.endswith(("-avg", "-max"))
    }
    assert {values[name] for name in DESCRIBED if name.endswith(("-rate", "-total", "per-hour"))} == {0.0}


@pytest.mark.parametrize("sensor", READINGS)
def test_each_metric_reads_its_own_sensor(sensor: str) -> None:
    metrics = CoordinatorMetrics()
    sensors: dict[str, Sensor] = {name: getattr(metrics, name) for name in RECORDED}
    for name, values in RECORDED.items():
        for value in values:
            sensors[name].record(value, 0)

    read = of_group(metrics)

    assert {name: read[name] for name in READINGS[sensor]} == pytest.approx(READINGS[sensor])


def test_every_metric_of_a_latency_or_a_count_reads_a_sensor() -> None:
    assert {name for read in READINGS.values() for name in read} == {
        name for name in DESCRIBED if not name.endswith("-ago")
    }


def test_a_consumer_registers_the_metrics_of_kafkas_consumer_coordinator() -> None:
    _, client = group()
    metrics = Metrics()
    client.register_metrics(metrics)

    assert {metric.name: metric.description for metric in metrics} == DESCRIBED | OF_CONSUMERS
    assert {(metric.group, metric.tags) for metric in metrics} == {
        ("consumer-coordinator-metrics", (("client-id", "m0"),))
    }


def test_a_registry_takes_many_members__and_each_of_them_once() -> None:
    metrics, clients = Metrics(), [group(client_id=name)[1] for name in ("a", "b")]
    for client in clients:
        client.register_metrics(metrics)

    assert len(list(metrics)) == 2 * len(DESCRIBED | OF_CONSUMERS)
    taken = "the metric consumer-coordinator-metrics heartbeat-response-time-max client-id=a is registered: give each"
    with pytest.raises(RebalanceCheckError, match=taken):
        clients[0].register_metrics(metrics)


def test_prometheus_scrapes_a_gauge_for_each_name_with_a_sample_for_each_member() -> None:
    environment, client = group()
    _, other = group(client_id="m1")
    metrics, registry = Metrics(), CollectorRegistry()
    client.register_metrics(metrics)
    other.register_metrics(metrics)
    metrics.add(Metric("connect-worker-rebalance-metrics", "leader-name", (), "The leader", lambda _: "http://w0"))
    registry.register(MetricsCollector(metrics, lambda: environment.now_ms))

    environment.run(10_500)
    name = "kafka_consumer_coordinator_metrics_heartbeat_total"
    assert [registry.get_sample_value(name, {"client_id": one}) for one in ("m0", "m1")] == [3, 0]
    assert registry.get_sample_value("kafka_connect_worker_rebalance_metrics_leader_name", {"value": "http://w0"}) == 1
    assert "# HELP kafka_consumer_coordinator_metrics_join_rate The number of group joins per second" in (
        generate_latest(registry).decode()
    )


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
