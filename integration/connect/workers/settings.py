"""How a Connect worker of a throw-away cluster is configured: everything on loopback, times short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MAIN_CLASS: Final = "org.apache.kafka.connect.cli.ConnectDistributed"

JVM_OPTIONS: Final = (
    "-Xms64m",
    "-Xmx320m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.awt.headless=true",
    "-Djava.net.preferIPv4Stack=true",
    "-Duser.timezone=UTC",
)

TRACED: Final = (
    "org.apache.kafka.connect.storage.KafkaStatusBackingStore",
    "org.apache.kafka.clients.producer.KafkaProducer",
    "org.apache.kafka.clients.producer.internals.ProducerBatch",
)
"""The loggers that tell a status store's reads and sends, and the appended records (`status_log`)."""

SIMPLE_LOGGER: Final = tuple(
    f"-Dorg.slf4j.simpleLogger.{name}"
    for name in (
        "showDateTime=true",
        "dateTimeFormat=yyyy-MM-dd HH:mm:ss,SSS",
        "showThreadName=false",
        "showShortLogName=true",
        *(f"log.{logger}=trace" for logger in TRACED),
    )
)
"""The JVM's options for jars with slf4j-simple, such as those that Maven fetched: it logs in nearly log4j's form."""

_CONVERTER: Final = "org.apache.kafka.connect.json.JsonConverter"

_LOG4J_1: Final = """\
log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %c{1} %m%n
log4j.logger.org.reflections=ERROR
"""

_LOG4J_2: Final = """\
status=error
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{yyyy-MM-dd HH:mm:ss,SSS} %p %c{1} %m%n
rootLogger.level=info
rootLogger.appenderRef.out.ref=out
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectConfig:
    """The settings of the workers of one cluster that a run may choose; times in ms, by Kafka's names.

    ``more`` are further settings of a worker, over all others.
    """

    mode: ConnectMode = ConnectMode.SESSIONED
    session_timeout_ms: int = 6_000
    heartbeat_interval_ms: int = 500
    rebalance_timeout_ms: int = 10_000
    scheduled_rebalance_max_delay_ms: int = 2_000
    task_shutdown_graceful_timeout_ms: int = 1_000
    exactly_once: bool = False
    more: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.heartbeat_interval_ms < self.session_timeout_ms:
            raise RebalanceCheckError(
                f"heartbeat.interval.ms is {self.heartbeat_interval_ms}, and session.timeout.ms "
                f"{self.session_timeout_ms}: choose a shorter heartbeat interval"
            )


@dataclass(frozen=True, slots=True)
class ClusterNames:
    """The group of a cluster and its three topics, which carry its name."""

    group: str

    @property
    def configs(self) -> str:
        """The topic of the connectors' and tasks' configs: one partition."""
        return f"{self.group}-configs"

    @property
    def offsets(self) -> str:
        """The topic of the source offsets."""
        return f"{self.group}-offsets"

    @property
    def statuses(self) -> str:
        """The topic of the statuses."""
        return f"{self.group}-status"


def worker_properties(names: ClusterNames, bootstrap: str, port: int, config: ConnectConfig) -> str:
    """The text of a worker's properties: it listens on ``port`` of loopback."""
    chosen = {
        "bootstrap.servers": bootstrap,
        "group.id": names.group,
        "connect.protocol": config.mode.value,
        "listeners": f"http://127.0.0.1:{port}",
        "session.timeout.ms": str(config.session_timeout_ms),
        "heartbeat.interval.ms": str(config.heartbeat_interval_ms),
        "rebalance.timeout.ms": str(config.rebalance_timeout_ms),
        "scheduled.rebalance.max.delay.ms": str(config.scheduled_rebalance_max_delay_ms),
        "task.shutdown.graceful.timeout.ms": str(config.task_shutdown_graceful_timeout_ms),
        "exactly.once.source.support": "enabled" if config.exactly_once else "disabled",
        **_topics(names),
        **_FIXED,
        **config.more,
    }
    return "".join(f"{key}={value}\n" for key, value in chosen.items())


def _topics(names: ClusterNames) -> dict[str, str]:
    return {
        "config.storage.topic": names.configs,
        "config.storage.replication.factor": "1",
        "offset.storage.topic": names.offsets,
        "offset.storage.replication.factor": "1",
        "offset.storage.partitions": "1",
        "status.storage.topic": names.statuses,
        "status.storage.replication.factor": "1",
        "status.storage.partitions": "1",
    }


_FIXED: Final = {
    "key.converter": _CONVERTER,
    "value.converter": _CONVERTER,
    "key.converter.schemas.enable": "false",
    "value.converter.schemas.enable": "false",
    "worker.sync.timeout.ms": "3000",
    "worker.unsync.backoff.ms": "2000",
    "offset.flush.interval.ms": "1000",
    # A worker that finds its plugins by their services starts in a third of the time (KIP-898).
    "plugin.discovery": "service_load",
}


def logging_setup(version: str) -> tuple[str, str, str]:
    """The file name, its text, and the JVM's option (to which the path is added) that make a release log to stdout."""
    if version.startswith("3."):
        traced = "".join(f"log4j.logger.{logger}=TRACE\n" for logger in TRACED)
        return "log4j.properties", _LOG4J_1 + traced, "-Dlog4j.configuration=file:"
    traced = "".join(f"logger.t{n}.name={logger}\nlogger.t{n}.level=trace\n" for n, logger in enumerate(TRACED))
    return "log4j2.properties", _LOG4J_2 + traced, "-Dlog4j2.configurationFile="
