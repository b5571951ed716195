"""The Java side, compiled on first use into the user's cache, and the command that starts it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm import compiled_once, java_tool
from rebalance_check.integration.virtual.release import Release

SOURCES: Final = Path(__file__).parent / "java"
MAIN_CLASS: Final = "rebalancecheck.worker.WorkerServer"
JVM_OPTIONS: Final = ("-Xmx256m", "-XX:+UseSerialGC", "-Djava.awt.headless=true")

JDK: Final = ("Kafka's WorkerCoordinator", 17)
_NOT_NEEDED: Final = ("log4j-", "netty-", "reload4j-", "slf4j-reload4j-", "slf4j-simple-")
"""Jars that only slow the start down, or would print."""


def command(release: Release) -> list[str]:
    """How the Java side is started; it is compiled if this was never done. `RebalanceCheckError` without a JDK."""
    class_path = release.class_path(_compiled(release), without=_NOT_NEEDED)
    return [java_tool("java", *JDK), *JVM_OPTIONS, "-cp", class_path, MAIN_CLASS]


def _compiled(release: Release) -> Path:
    otherwise = (
        f"the lockstep of workers does not compile against Kafka {release.version}: it needs the jars of "
        "connect-runtime, of 4.3.1 or 3.9.2. javac says:"
    )
    sources = sorted(SOURCES.glob("*.java"))
    return compiled_once(f"virtual/worker-{release.version}", sources, f"{release.jars}/*", JDK, otherwise=otherwise)
