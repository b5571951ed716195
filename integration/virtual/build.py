"""The Java side, compiled on first use into the user's cache, and the command that starts it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm import compiled_once, java_tool
from rebalance_check.integration.virtual.release import SOURCES, Release
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MAIN_CLASS: Final = "rebalancecheck.Main"
JVM_OPTIONS: Final = (
    "-Xms128m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
)
"""Both compilers stay on: without the second one, batches are a tenth faster, and what is asked one by one is six times
slower."""

JDK: Final = ("virtual Kafka", 17)
_NOT_NEEDED: Final = ("log4j-", "netty-", "jackson-dataformat")
"""Jars that only slow the start down, or would print."""


def command(release: Release) -> list[str]:
    """How virtual Kafka is started; it is compiled if this was never done. `RebalanceCheckError` without a JDK."""
    class_path = release.class_path(compiled(release), without=_NOT_NEEDED)
    return [java_tool("java", *JDK), *JVM_OPTIONS, "-cp", class_path, MAIN_CLASS]


def compiled(release: Release) -> Path:
    """The folder of classes for a release, by the hash of their sources."""
    otherwise = (
        f"virtual Kafka does not compile against Kafka {release.version}, for which it was not written: choose "
        "4.3.1 or 3.9.2. javac says:"
    )
    name = f"virtual/{release.version}"
    return compiled_once(name, _sources(release), f"{release.jars}/*", JDK, otherwise=otherwise)


def _sources(release: Release) -> list[Path]:
    own = sorted((SOURCES / release.generation).glob("*.java"))
    if not own:
        raise RebalanceCheckError(f"Kafka {release.version} cannot run virtually: choose a release of Kafka 3.9 or 4")
    return sorted((SOURCES / "shared").glob("*.java")) + own
