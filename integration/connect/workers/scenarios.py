"""Scenarios for a cluster of Java workers: faults that Connect must survive, and defects that it is known for.

Each scenario starts its workers, injects faults, and waits until every connector and task runs exactly once again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.integration.connect.workers.awaiting import items_of
from rebalance_check.integration.connect.workers.build import SINK_CONNECTOR, SOURCE_CONNECTOR
from rebalance_check.integration.connect.workers.cluster import ConnectCluster
from rebalance_check.integration.connect.workers.controls import Operation
from rebalance_check.integration.connect.workers.settings import ConnectConfig
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

CONNECTOR: Final = "s"
SINK: Final = "k"
TASKS: Final = 4
LOGGER: Final = "org.apache.kafka.connect.mirror"
COMPACTION_TIMEOUT_S: Final = 60.0

Act: TypeAlias = Callable[[ConnectCluster], None]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps for a cluster with this config; ``config_topic`` are further settings of its config topic.

    ``defect`` is Kafka's own ticket where the scenario provokes one.
    """

    act: Act
    config: ConnectConfig = field(default_factory=ConnectConfig)
    config_topic: Mapping[str, str] = field(default_factory=dict)
    defect: str = ""

    @property
    def name(self) -> str:
        """``worker_killed``; with the mode where it is not Connect's default, ``ours_and_java_eager``."""
        mode = self.config.mode
        return self.act.__name__ if mode is ConnectMode.SESSIONED else f"{self.act.__name__}_{mode}"


def source(tasks: int = TASKS, **more: str) -> dict[str, str]:
    """The config of a source connector with this many tasks."""
    return {"connector.class": SOURCE_CONNECTOR, "tasks.max": str(tasks), **more}


def begin(cluster: ConnectCluster, workers: int = 2) -> None:
    """Start workers and a source connector; return when it runs."""
    cluster.start(*(f"w{number}" for number in range(workers)))
    cluster.rest().put_config(CONNECTOR, source())
    cluster.await_running(items_of(CONNECTOR, TASKS))


def pause_a_follower(cluster: ConnectCluster, items: set[str]) -> None:
    """Pause a worker that does not lead until the others run all ``items``, and let it run on."""
    leader = cluster.leader()
    follower = next(name for name in cluster.workers if name != leader)
    cluster.pause(follower)
    cluster.await_that(
        lambda found: items <= {item for item, who in found.items() if set(who) - {follower}},
        f"the other worker does not run everything while {follower} is paused",
    )
    cluster.resume(follower)


# ------------------------------------------------------------------------------------------------ requirements


def worker_killed(cluster: ConnectCluster) -> None:
    """The leader is killed; the others run its work, once the delay is over."""
    begin(cluster, workers=3)
    cluster.kill(cluster.leader())
    cluster.await_running(items_of(CONNECTOR, TASKS))


def worker_paused(cluster: ConnectCluster) -> None:
    """A follower is paused for longer than its session, and returns with its work, which others run by then."""
    begin(cluster)
    pause_a_follower(cluster, items_of(CONNECTOR, TASKS))
    cluster.await_running(items_of(CONNECTOR, TASKS))


def config_churn(cluster: ConnectCluster) -> None:
    """Connectors are created, changed, paused, stopped, restarted and deleted; a task fails, another does not stop."""
    begin(cluster)
    rest, topic = cluster.rest(), f"{cluster.names.group}-records"
    create_topic(cluster.bootstrap, topic, 2)
    rest.put_config(SINK, {"connector.class": SINK_CONNECTOR, "tasks.max": "2", "topics": topic})
    rest.put_config(CONNECTOR, source(3, **{"recording.topic": topic}))
    cluster.await_running(items_of(CONNECTOR, 3) | items_of(SINK, 2))
    rest.target(CONNECTOR, "pause")
    cluster.await_state(CONNECTOR, "PAUSED")
    rest.target(CONNECTOR, "resume")
    cluster.await_state(CONNECTOR, "RUNNING")
    rest.target(SINK, "stop")
    cluster.await_state(SINK, "STOPPED")
    cluster.await_that(lambda found: f"{SINK}-0" not in found and f"{SINK}-1" not in found, "the sink does not stop")
    rest.target(SINK, "resume")
    cluster.await_running(items_of(CONNECTOR, 3) | items_of(SINK, 2))
    with cluster.controls.blocked(Operation.POLL, f"{CONNECTOR}-0"):
        cluster.await_blocked(f"{CONNECTOR}-0")
        rest.restart(CONNECTOR, include_tasks=True)
        cluster.await_that(lambda found: len(found.get(f"{CONNECTOR}-0", ())) > 1, "no task was abandoned")
    with cluster.controls.failing(Operation.START, f"{SINK}-1"):
        rest.restart(SINK, include_tasks=True)
        cluster.await_state(f"{SINK}-1", "FAILED")
    rest.restart(SINK, include_tasks=True, only_failed=True)
    cluster.await_running(items_of(CONNECTOR, 3) | items_of(SINK, 2))
    rest.delete(SINK)
    cluster.await_running(items_of(CONNECTOR, 3))


def rolling_restart(cluster: ConnectCluster) -> None:
    """Each worker is stopped and started again within the delay, the leader last; all work has a worker afterwards."""
    begin(cluster)
    leader = cluster.leader()
    for worker in sorted(cluster.workers, key=lambda name: name == leader):
        cluster.stop(worker)
        cluster.start(worker)
        cluster.await_running(items_of(CONNECTOR, TASKS))


def exactly_once_zombie(cluster: ConnectCluster) -> None:
    """With exactly-once sources a paused worker's tasks are fenced by those that run in its place (KIP-618)."""
    cluster.start("w0", "w1")
    topic = f"{cluster.names.group}-records"
    create_topic(cluster.bootstrap, topic, 1)
    cluster.rest().put_config(CONNECTOR, source(2, **{"recording.topic": topic, "transaction.boundary": "poll"}))
    cluster.await_running(items_of(CONNECTOR, 2))
    pause_a_follower(cluster, items_of(CONNECTOR, 2))
    # The fenced tasks of the zombie fail; the duplicates are revoked from both workers and started anew.
    cluster.await_running(items_of(CONNECTOR, 2))


def ours_and_java(cluster: ConnectCluster) -> None:
    """A worker of ours leads one of Java's, stops, and comes back to follow it; connectors change meanwhile."""
    cluster.start("w1", ours=True)
    cluster.start("w0")
    put_and_change(cluster, "s", "r")
    require_leader(cluster, "w1")
    cluster.stop("w1")
    cluster.await_running(items_of("s", 2) | items_of("r", 1))
    cluster.start("w1", ours=True)
    cluster.await_that(lambda found: any("w1" in who for who in found.values()), "w1 gets nothing to run")
    put_and_change(cluster, "s", "r")
    require_leader(cluster, "w0")


def begin_with(cluster: ConnectCluster, ours: str, java: str) -> None:
    """Start a worker of ours, which leads, then one of Java's; return when a connector with one task runs."""
    cluster.start(ours, ours=True)
    cluster.start(java)
    cluster.rest(java).put_config(CONNECTOR, source(1))
    cluster.await_running(items_of(CONNECTOR, 1))


def put_and_change(cluster: ConnectCluster, first: str, second: str) -> None:
    """Two connectors, so that each worker runs one that has task configs to publish; then other numbers of tasks."""
    rest = cluster.rest("w0")
    rest.put_config(first, source(4))
    rest.put_config(second, source(2))
    cluster.await_running(items_of(first, 4) | items_of(second, 2))
    rest.put_config(first, source(2, changed="1"))
    rest.put_config(second, source(1, changed="1"))
    cluster.await_running(items_of(first, 2) | items_of(second, 1))


def require_leader(cluster: ConnectCluster, worker: str) -> None:
    """Raise unless ``worker`` leads.

    Raises:
        RebalanceCheckError: another worker leads.
    """
    if (leader := cluster.leader()) != worker:
        raise RebalanceCheckError(f"{leader} leads the group, and {worker} should: start {worker} before all others")


# ------------------------------------------------------------------------------------------------ known defects


def poll_timeout(cluster: ConnectCluster) -> None:
    """The leader's herder blocks for longer than the rebalance timeout: its tasks run on, and elsewhere, too."""
    begin(cluster)
    leader = cluster.leader()
    (owner,) = cluster.running()[CONNECTOR]
    with cluster.controls.blocked(Operation.CONFIGURE, CONNECTOR):
        cluster.rest(owner).put_config(CONNECTOR, source(changed="1"))
        cluster.await_that(
            lambda found: any(len(set(who)) > 1 for who in found.values()),
            f"no task of {owner}, whose herder is blocked, runs elsewhere, too (the leader is {leader})",
        )
    cluster.await_running(items_of(CONNECTOR, TASKS))


def eager_worker_joins(cluster: ConnectCluster) -> None:
    """A worker that is configured as eager joins two others: they stop nothing that the eager round gives away."""
    begin(cluster)
    cluster.start("w2", mode=ConnectMode.EAGER)
    cluster.await_that(
        lambda found: any(len(set(who)) > 1 for who in found.values()), "no task runs twice after the eager round"
    )


def compaction_reorders(cluster: ConnectCluster) -> None:
    """A paused connector gets another config, and compaction leaves its tasks' configs before it (KAFKA-17719).

    A worker that starts then reads a connector without tasks. When it resumes, its owner publishes all tasks again.
    """
    begin(cluster)
    leader = cluster.leader()
    (follower,) = (name for name in cluster.workers if name != leader)
    rest = cluster.rest(leader)
    rest.target(CONNECTOR, "pause")
    rest.put_config(CONNECTOR, source(changed="1"))
    await_compaction(cluster)
    cluster.kill(follower)
    cluster.start(follower)
    for worker in (leader, follower):
        cluster.note_snapshot(worker, "PAUSED")
    rest.target(CONNECTOR, "resume")
    cluster.await_running(items_of(CONNECTOR, TASKS))


def await_compaction(cluster: ConnectCluster) -> None:
    """Write harmless records until compaction has removed the first config of the connector."""
    key = f"connector-{CONNECTOR}"

    def probe() -> bool | NotYet:
        # A cluster-wide logger level is a record in the config topic (KIP-976); a segment rolls when one comes.
        cluster.rest().ask("PUT", f"/admin/loggers/{LOGGER}?scope=cluster", {"level": "WARN"})
        left = [offset for offset, found in cluster.topics.compacted_configs() if found == key]
        return True if len(left) == 1 else NotYet(f"{key} at the offsets {left}")

    await_until(
        probe, timeout_s=COMPACTION_TIMEOUT_S, pause_s=0.5, otherwise="the config topic is not compacted",
        hint="check log.cleaner.backoff.ms of the broker: compaction takes that long, 15 s by default",
    )  # fmt: skip


SOON_COMPACTED: Final = {"segment.ms": "1000", "min.cleanable.dirty.ratio": "0", "delete.retention.ms": "100"}

SCENARIOS: Final = (
    Scenario(worker_killed),
    Scenario(worker_paused),
    Scenario(config_churn),
    Scenario(rolling_restart, ConnectConfig(scheduled_rebalance_max_delay_ms=15_000)),
    Scenario(exactly_once_zombie, ConnectConfig(exactly_once=True)),
    *(Scenario(ours_and_java, ConnectConfig(mode=mode)) for mode in ConnectMode),
    Scenario(poll_timeout, ConnectConfig(rebalance_timeout_ms=6_000), defect="KAFKA-16056"),
    Scenario(eager_worker_joins, defect="KAFKA-13816"),
    Scenario(compaction_reorders, config_topic=SOON_COMPACTED, defect="KAFKA-17719"),
)
"""Every scenario, the defects last."""
