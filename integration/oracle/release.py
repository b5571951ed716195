"""The jars of a release's clients, and the Java side compiled against them; both made once, in the user's cache."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from rebalance_check.integration.jvm import (
    JARS_SETTING,
    cache_folder,
    compile_java,
    fetch_jars,
    fingerprint,
    java_tool,
    made_once,
)
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

DEFAULT_VERSION: Final = "4.3.1"
SOURCES: Final = Path(__file__).parent / "java"
MAIN_CLASS: Final = "AssignorOracle"
JVM_OPTIONS: Final = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-Djava.awt.headless=true")
JDK: Final = ("the assignor oracle", 11)
OLDEST: Final = (2, 4)
"""The first release whose assignors speak of owned partitions (KIP-429)."""

_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.\d+")
_NEEDED: Final = ("kafka-clients-*.jar", "slf4j-*.jar")


def command(version: str, patience_ms: int) -> list[str]:
    """How the assignors of a release are started. `RebalanceCheckError` without Java or jars."""
    jars = _jars(jars_of(version))
    class_path = os.pathsep.join(map(str, [_compiled(jars), *jars]))
    return [java_tool("java", *JDK), *JVM_OPTIONS, "-cp", class_path, MAIN_CLASS, str(patience_ms)]


def jars_of(version: str) -> Path:
    """The folder with the jars of a release: below the one of REBALANCE_CHECK_KAFKA_JARS, or fetched by Maven.

    Raises `RebalanceCheckError` when the text is no release.
    """
    match = _VERSION.fullmatch(version)
    if match is None or (int(match[1]), int(match[2])) < OLDEST:
        raise RebalanceCheckError(f"{version!r} is no release of Kafka's clients since 2.4.0: write one like 4.3.1")
    setting = os.environ.get(JARS_SETTING)
    if setting:
        folder = Path(setting.replace("{version}", version)).expanduser()
        for place in (folder / version, folder):
            if (place / f"kafka-clients-{version}.jar").is_file():
                return place
    return _from_maven(version)


def _from_maven(version: str) -> Path:
    advice = f"put kafka-clients-{version}.jar and slf4j-api into a folder and set {JARS_SETTING} to it"

    def fetch(target: Path) -> None:
        needs = f"the assignors of Kafka {version} need its jars: install Maven, or {advice}"
        fetch_jars(SOURCES / "pom.xml", version, target, without_maven=needs, otherwise=advice)

    return made_once(cache_folder() / "assignors" / "jars" / version, fetch)


def _jars(folder: Path) -> list[Path]:
    return sorted(path for pattern in _NEEDED for path in folder.glob(pattern))


def _compiled(jars: list[Path]) -> Path:
    """The classes, one set for all releases: they use only what the oldest has, and reflection for the rest."""
    sources = sorted(SOURCES.glob("*.java"))

    def compile_into(target: Path) -> None:
        otherwise = "the Java side of the assignors does not compile:"
        class_path = os.pathsep.join(map(str, jars))
        compile_java(java_tool("javac", *JDK), sources, class_path, target, otherwise=otherwise)

    return made_once(cache_folder() / "assignors" / f"classes-{fingerprint(sources)}", compile_into)
