"""How a throw-away Kafka node is configured: one KRaft node, broker and controller in one, everything on loopback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CLUSTER_ID: Final = "cmViYWxhbmNlLWNoZWNrIQ"
"""16 bytes in URL-safe base64, as `StorageTool` wants them; any will do for a log that is thrown away."""

JVM_OPTIONS: Final = (
    "-Xms256m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.awt.headless=true",
    "-Djava.net.preferIPv4Stack=true",
)
"""A small heap and a compiler that is quick to start: a node is up in about two seconds."""

FORMAT_CLASS: Final = "kafka.tools.StorageTool"
MAIN_CLASS: Final = "kafka.Kafka"

_SMALL: Final = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "auto.create.topics.enable": "false",
    "num.network.threads": "1",
    "num.io.threads": "1",
    "num.recovery.threads.per.data.dir": "1",
    "log.cleaner.dedupe.buffer.size": "2097152",
    # Topics that ask to be compacted soon are.
    "log.cleaner.backoff.ms": "500",
    # A machine that stands still for some seconds neither costs the only node its leadership nor fails its writes.
    "broker.session.timeout.ms": "60000",
    "offsets.commit.timeout.ms": "60000",
}

# One thread reads and one handles: requests are handled in order of arrival, which replay counts on.
_GROUPS: Final = {
    # The model has no initial delay in these runs, and sessions are short so that real expiry can be waited for.
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
}


def server_properties(*, listen: str, port: int, controller_port: int, advertised_port: int, log_dir: str) -> str:
    """The text of ``server.properties``.

    ``listen`` is the address to bind (``127.0.0.1``, or ``0.0.0.0`` inside a container whose port is published on
    loopback); clients learn ``127.0.0.1:advertised_port``.
    """
    chosen = {
        **_SMALL,
        **_GROUPS,
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "listeners": f"PLAINTEXT://{listen}:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{advertised_port}",
        "log.dirs": log_dir,
    }
    return "".join(f"{key}={value}\n" for key, value in chosen.items())


_CLUSTER: Final = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "INTERNAL",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "log.cleaner.dedupe.buffer.size": "2097152",
    # A node that is gone is noticed in seconds; nothing else depends on these.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.election.backoff.max.ms": "500",
    "replica.lag.time.max.ms": "3000",
    "replica.fetch.wait.max.ms": "200",
}


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """Where one node of a cluster listens, and which address it tells others: ``HOST:PORT`` each."""

    number: int
    listen: str
    advertised: str
    internal_listen: str
    internal: str
    controller_listen: str
    controller: str


def cluster_properties(node: NodeAddress, nodes: Sequence[NodeAddress], log_dir: str) -> str:
    """The text of ``server.properties`` of one node among ``nodes``: each is broker and controller."""
    chosen = {
        **_CLUSTER,
        **_GROUPS,
        "node.id": str(node.number),
        "controller.quorum.voters": ",".join(f"{each.number}@{each.controller}" for each in nodes),
        "listeners": (
            f"PLAINTEXT://{node.listen},INTERNAL://{node.internal_listen},CONTROLLER://{node.controller_listen}"
        ),
        "advertised.listeners": f"PLAINTEXT://{node.advertised},INTERNAL://{node.internal}",
        "log.dirs": log_dir,
    }
    return "".join(f"{key}={value}\n" for key, value in chosen.items())
