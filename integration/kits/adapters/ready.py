"""The ready clients by name, with their programs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm.jars import ReleaseJars
from rebalance_check.integration.kits.adapters.adapter import Adapter
from rebalance_check.integration.kits.programs.go import GoProgram
from rebalance_check.integration.kits.programs.java import JavaProgram
from rebalance_check.integration.kits.programs.node import NodeProgram
from rebalance_check.integration.kits.programs.python import PythonProgram
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

_FOLDER: Final = Path(__file__).parent

JAVA_JARS: Final = ReleaseJars(
    whose="Java consumer",
    product="Kafka's clients",
    cache="adapters/java",
    first="kafka-clients",
    others=" and slf4j-api",
    patterns=(
        "kafka-clients-*.jar",
        "slf4j-api-*.jar",
        "slf4j-nop-*.jar",
        "lz4-java-*.jar",
        "snappy-java-*.jar",
        "zstd-jni-*.jar",
    ),
    pom=_FOLDER / "java" / "pom.xml",
    profile="",
    sources=(_FOLDER / "java" / "GroupConsumer.java",),
    jdk=("the Java consumer", 17),
)


def _python(name: str, package: str) -> PythonProgram:
    return PythonProgram(name, f"{__package__}.{name.replace('-', '_')}.consumer", package)


ADAPTERS: Final = (
    Adapter("java", JavaProgram(JAVA_JARS, "4.3.1", "GroupConsumer")),
    Adapter("librdkafka", _python("librdkafka", "confluent-kafka")),
    Adapter("aiokafka", _python("aiokafka", "aiokafka"), ("eager",)),
    Adapter("kafka-python", _python("kafka-python", "kafka-python")),
    Adapter(
        "kafkajs",
        NodeProgram("kafkajs", _FOLDER / "kafkajs", "kafkajs"),
        ("eager",),
        static_members=False,
    ),
    Adapter("platformatic", NodeProgram("platformatic", _FOLDER / "platformatic", "@platformatic/kafka")),
    Adapter("franz-go", GoProgram("franz-go", _FOLDER / "franz_go", "github.com/twmb/franz-go")),
    Adapter("sarama", GoProgram("sarama", _FOLDER / "sarama", "github.com/IBM/sarama")),
)

OURS: Final = Adapter("ours", _python("ours", "rebalance-check"))
"""Our own client, which is no library; ``--slip NAME`` asks it for one deliberate mistake (`ours.slips`)."""


def adapter(name: str) -> Adapter:
    """The ready client of that name; `RebalanceCheckError` where there is none."""
    by_name = {each.name: each for each in (*ADAPTERS, OURS)}
    if name not in by_name:
        raise RebalanceCheckError(f"{name!r} is no ready client: choose {', '.join(by_name)}")
    return by_name[name]
