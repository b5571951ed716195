"""The Java side, compiled on first use into the user's cache, and the command that starts it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm import compiled_once, java_tool
from rebalance_check.integration.virtual.release import Release
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MAIN_CLASS: Final = "org.apache.kafka.connect.storage.StoreServer"
SOURCES: Final = Path(__file__).parent / "java"
JVM_OPTIONS: Final = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true")
JDK: Final = ("Kafka Connect's own classes", 17)
_NOT_NEEDED: Final = ("log4j-", "slf4j-simple", "slf4j-reload4j", "reload4j")
"""Jars that would print."""


def command(release: Release) -> list[str]:
    """How the Java side is started; it is compiled if this was never done.

    Raises: RebalanceCheckError without a JDK, or where the jars hold no Kafka Connect.
    """
    if not list(release.jars.glob("connect-runtime-*.jar")):
        raise RebalanceCheckError(
            f"{str(release.jars)!r} holds no connect-runtime: add the jars of a Connect worker of Kafka "
            f"{release.version}, or let Maven fetch them"
        )
    class_path = release.class_path(_compiled(release), without=_NOT_NEEDED)
    return [java_tool("java", *JDK), *JVM_OPTIONS, "-cp", class_path, MAIN_CLASS]


def _compiled(release: Release) -> Path:
    """The folder of classes for a release, by the hash of their sources."""
    sources = sorted(SOURCES.glob("*.java"))
    otherwise = f"the Java side does not compile against Kafka {release.version}: choose 4.3.1 or 3.9.2. javac says:"
    return compiled_once(f"lockstep/{release.version}", sources, f"{release.jars}/*", JDK, otherwise=otherwise)
