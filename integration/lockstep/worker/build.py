"""The Java side, compiled on first use into the user's cache, and the command that starts it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm import cache_folder, compile_java, fingerprint, java_tool, made_once
from rebalance_check.integration.virtual.release import Release

SOURCES: Final = Path(__file__).parent / "java"
MAIN_CLASS: Final = "rebalancecheck.worker.WorkerServer"
JVM_OPTIONS: Final = ("-Xmx256m", "-XX:+UseSerialGC", "-Djava.awt.headless=true")

JDK: Final = ("Kafka's WorkerCoordinator", 17)
_NOT_NEEDED: Final = ("log4j-", "netty-", "reload4j-", "slf4j-reload4j-", "slf4j-simple-")
"""Jars that only slow the start down, or would print."""


def command(release: Release) -> list[str]:
    """How the Java side is started; it is compiled if this was never done. `RebalanceCheckError` without a JDK."""
    sources = sorted(SOURCES.glob("*.java"))
    folder = cache_folder() / "virtual" / f"worker-{release.version}-{fingerprint(sources)}"
    classes = made_once(folder, lambda target: _compile(release, sources, target))
    jars = [str(path) for path in sorted(release.jars.glob("*.jar")) if not path.name.startswith(_NOT_NEEDED)]
    return [java_tool("java", *JDK), *JVM_OPTIONS, "-cp", os.pathsep.join([str(classes), *jars]), MAIN_CLASS]


def _compile(release: Release, sources: list[Path], target: Path) -> None:
    otherwise = (
        f"the lockstep of workers does not compile against Kafka {release.version}: it needs the jars of "
        "connect-runtime, of 4.3.1 or 3.9.2. javac says:"
    )
    compile_java(java_tool("javac", *JDK), sources, f"{release.jars}/*", target, otherwise=otherwise)
