"""The jars of a release's clients, and the command that starts the Java side compiled against them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm import java_tool
from rebalance_check.integration.oracle.jars import JDK, ReleaseJars

DEFAULT_VERSION: Final = "4.3.1"
MAIN_CLASS: Final = "AssignorOracle"
JVM_OPTIONS: Final = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-Djava.awt.headless=true")
CLIENT_JARS: Final = ReleaseJars(
    whose="assignors",
    product="Kafka's clients",
    cache="assignors",
    first="kafka-clients",
    others=" and slf4j-api",
    patterns=("kafka-clients-*.jar", "slf4j-api-*.jar", "slf4j-nop-*.jar"),
    sources=Path(__file__).parent / "java",
)


def command(version: str, patience_ms: int) -> list[str]:
    """How the assignors of a release are started; ``patience_ms`` is how long one small problem may take.

    Raises: `RebalanceCheckError` without Java or jars.
    """
    class_path = CLIENT_JARS.class_path(version)
    return [java_tool("java", *JDK), *JVM_OPTIONS, "-cp", class_path, MAIN_CLASS, str(patience_ms)]
