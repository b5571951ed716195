"""The jars of a release's clients, and the Java side compiled against them; both made once, in the user's cache."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from rebalance_check.integration.java import JARS_SETTING, cache_folder, java_tool, settle
from rebalance_check.model.errors import RebalanceCheckError

DEFAULT_VERSION: Final = "4.3.1"
SOURCES: Final = Path(__file__).parent / "java"
MAIN_CLASS: Final = "AssignorOracle"
MAVEN_TIMEOUT_S: Final = 300.0
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
    """The folder with the jars of a release: below the one of REBALANCE_CHECK_KAFKA_JARS, or fetched by Maven."""
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
    folder = cache_folder() / "assignors" / "jars" / version
    if folder.is_dir():
        return folder
    advice = f"put kafka-clients-{version}.jar and slf4j-api into a folder and set {JARS_SETTING} to it"
    maven = shutil.which("mvn")
    if maven is None:
        raise RebalanceCheckError(f"the assignors of Kafka {version} need its jars: install Maven, or {advice}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix="fetching-", dir=folder.parent))
    call = [maven, "--batch-mode", "--quiet", "--file", str(SOURCES / "pom.xml"), f"-Dkafka.version={version}"]
    call += ["dependency:copy-dependencies", f"-DoutputDirectory={partial}", "-DincludeScope=runtime"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=MAVEN_TIMEOUT_S)
    if done.returncode != 0:
        shutil.rmtree(partial, ignore_errors=True)
        said = (done.stdout + done.stderr).strip().splitlines() or ["it said nothing"]
        raise RebalanceCheckError(f"Maven could not fetch the clients of Kafka {version} ({said[0]}): {advice}")
    settle(partial, folder)
    return folder


def _jars(folder: Path) -> list[Path]:
    return sorted(path for pattern in _NEEDED for path in folder.glob(pattern))


def _compiled(jars: list[Path]) -> Path:
    """The classes, one set for all releases: they use only what the oldest has, and reflection for the rest."""
    sources = sorted(SOURCES.glob("*.java"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    folder = cache_folder() / "assignors" / f"classes-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix="compiling-", dir=folder.parent))
        _compile(sources, partial, os.pathsep.join(map(str, jars)))
        settle(partial, folder)
    return folder


def _compile(sources: list[Path], target: Path, class_path: str) -> None:
    call = [
        java_tool("javac", *JDK),
        "-nowarn",
        "-proc:none",
        "-encoding",
        "UTF-8",
        "-d",
        str(target),
        "-cp",
        class_path,
    ]
    done = subprocess.run([*call, *map(str, sources)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(target, ignore_errors=True)
        raise RebalanceCheckError(f"the Java side of the assignors does not compile:\n{done.stderr.strip()}")
