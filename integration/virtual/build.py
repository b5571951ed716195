"""The Java side, compiled on first use into the user's cache, and the command that starts it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from rebalance_check.integration.java import cache_folder, settle
from rebalance_check.integration.virtual.release import SOURCES, Release
from rebalance_check.model.errors import RebalanceCheckError

MAIN_CLASS: Final = "rebalancecheck.Main"
JVM_OPTIONS: Final = (
    "-Xms128m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
)
"""The second compiler is left out: what it gains in a campaign of minutes is less than it costs on two cores."""

_NOT_NEEDED: Final = ("log4j-", "netty-", "jackson-dataformat")
"""Jars that only slow the start down, or would print."""


def command(release: Release) -> list[str]:
    """How virtual Kafka is started; it is compiled if this was never done. `RebalanceCheckError` without a JDK."""
    class_path = os.pathsep.join([str(compiled(release)), *_jars(release)])
    return [_tool("java"), *JVM_OPTIONS, "-cp", class_path, MAIN_CLASS]


def compiled(release: Release) -> Path:
    """The folder of classes for a release, by the hash of their sources."""
    sources = _sources(release)
    folder = cache_folder() / "virtual" / f"{release.version}-{_fingerprint(sources)}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix="compiling-", dir=folder.parent))
        _compile(release, sources, partial)
        settle(partial, folder)
    return folder


def _sources(release: Release) -> list[Path]:
    own = sorted((SOURCES / release.generation).glob("*.java"))
    if not own:
        raise RebalanceCheckError(f"Kafka {release.version} cannot run virtually: choose a release of Kafka 3.9 or 4")
    return sorted((SOURCES / "shared").glob("*.java")) + own


def _fingerprint(sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _compile(release: Release, sources: list[Path], target: Path) -> None:
    arguments = ["-nowarn", "-proc:none", "-encoding", "UTF-8", "-d", str(target), "-cp", f"{release.jars}/*"]
    call = [_tool("javac"), *arguments, *map(str, sources)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(target, ignore_errors=True)
        raise RebalanceCheckError(
            f"virtual Kafka does not compile against Kafka {release.version}, for which it was not written: choose "
            f"4.3.1 or 3.9.2. javac says:\n{done.stderr.strip()}"
        )


def _jars(release: Release) -> list[str]:
    return [str(path) for path in sorted(release.jars.glob("*.jar")) if not path.name.startswith(_NOT_NEEDED)]


def _tool(name: str) -> str:
    home = os.environ.get("JAVA_HOME")
    found = (shutil.which(name, path=f"{home}/bin") if home else None) or shutil.which(name)
    if found is None:
        raise RebalanceCheckError(
            f"virtual Kafka needs a JDK of Java 17 and there is no {name!r} on the PATH: install one, or set JAVA_HOME"
        )
    return found
