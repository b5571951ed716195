"""The jars of a release that Kafka's assignors need, and the commands that start the Java side."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.integration.jvm.jars import ReleaseJars
from rebalance_check.integration.jvm.release import DEFAULT_VERSION, POM
from rebalance_check.integration.jvm.services import QUICK_START, java_command, java_files

__all__ = ["CLIENT_JARS", "DEFAULT_VERSION", "WORKER_JARS", "assignors_command", "connect_assignors_command"]

_JACKSON: Final = ("jackson-annotations", "jackson-core", "jackson-databind")
_NEEDED: Final = ("kafka-clients", "connect", "slf4j-api", "slf4j-nop", *_JACKSON)

CLIENT_JARS: Final = ReleaseJars(
    whose="assignors",
    product="Kafka's clients",
    cache="assignors",
    first="kafka-clients",
    others=", slf4j-api and Jackson",
    patterns=tuple(f"{name}-*.jar" for name in _NEEDED),
    pom=POM,
    profile="assignors",
    sources=tuple(java_files("harness", "assignors")),
    jdk=("the assignor oracle", 17),
)
WORKER_JARS: Final = replace(
    CLIENT_JARS,
    whose="Connect assignors",
    product="Kafka Connect",
    first="connect-runtime",
    others=", connect-api, kafka-clients, slf4j-api and Jackson",
)


def assignors_command(version: str) -> list[str]:
    """How the assignors of a release are started. `RebalanceCheckError` without Java or jars."""
    return [*java_command(CLIENT_JARS.jdk, CLIENT_JARS.class_path(version)), "rebalancecheck.Assignors"]


def connect_assignors_command(version: str) -> list[str]:
    """How the Connect assignors of a release are started. `RebalanceCheckError` without Java or jars."""
    command = java_command(WORKER_JARS.jdk, WORKER_JARS.class_path(version), [QUICK_START])
    return [*command, "rebalancecheck.ConnectAssignors"]
