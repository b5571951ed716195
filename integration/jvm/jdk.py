"""A JDK's tools, and the cache of jars that Maven fetched and of classes that ``javac`` made."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rebalance_check.integration.parent import ended_with_parent
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

JARS_SETTING: Final = "REBALANCE_CHECK_KAFKA_JARS"
"""The environment variable with the folder of a release's jars, or of a folder for each release."""

MAVEN_TIMEOUT_S: Final = 600.0


def java_tool(name: str, whose: str, oldest: int) -> str:
    """The path of ``java`` or ``javac``: below JAVA_HOME, or on the PATH.

    `RebalanceCheckError` when there is none; it says that ``whose`` needs a JDK of Java ``oldest``.
    """
    home = os.environ.get("JAVA_HOME")
    found = (shutil.which(name, path=f"{home}/bin") if home else None) or shutil.which(name)
    if found is None:
        raise RebalanceCheckError(
            f"{whose} needs a JDK of Java {oldest} or later, and no {name!r} is on the PATH: install one, or set "
            "JAVA_HOME"
        )
    return found


def cache_folder() -> Path:
    """Where this package keeps files that it can make again."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rebalance-check"


def settle(partial: Path, folder: Path) -> None:
    """Give a finished folder its place; if another process was faster, its work is as good."""
    try:
        partial.rename(folder)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)
        if not folder.is_dir():
            raise


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """``folder``, which ``make`` fills where it is not there yet; a half done folder does not get that place."""
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix="making-", dir=folder.parent))
    try:
        make(partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    settle(partial, folder)
    return folder


def fetched_jars(
    pom: Path, version: str, folder: Path, *, profile: str = "", without_maven: str, otherwise: str
) -> Path:
    """``folder``, which Maven fills once with the jars that a ``profile`` of ``pom`` names for a release of Kafka.

    Raises: `RebalanceCheckError` when there is no Maven, which says ``without_maven``, and when it fails, with its
    output and ``otherwise``, the next move.
    """

    def fetch(target: Path) -> None:
        maven = shutil.which("mvn")
        if maven is None:
            raise RebalanceCheckError(without_maven)
        call = [maven, "--batch-mode", "--quiet", "--file", str(pom), f"-Dkafka.version={version}"]
        call += [f"-P{profile}"] if profile else []
        call += ["dependency:copy-dependencies", f"-DoutputDirectory={target}", "-DincludeScope=runtime"]
        done = subprocess.run(
            ended_with_parent(call), capture_output=True, text=True, check=False, timeout=MAVEN_TIMEOUT_S
        )
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip().splitlines() or ["it said nothing"]
            raise RebalanceCheckError(f"Maven could not fetch the jars of Kafka {version} ({said[0]}): {otherwise}")

    return made_once(folder, fetch)


def compiled_once(
    name: str,
    sources: Sequence[Path],
    class_path: str,
    jdk: tuple[str, int],
    *,
    otherwise: str,
    add: Callable[[Path], None] | None = None,
) -> Path:
    """The folder with the classes of ``sources``, by their hash: ``name`` and the hash are its place in the cache.

    ``jdk`` names the JDK's user and its oldest Java; ``add`` puts into the new folder files that are not compiled.

    Raises: `RebalanceCheckError` when there is no JDK, and with ``otherwise`` and ``javac``'s output when it fails.
    """

    def make(target: Path) -> None:
        _compile(java_tool("javac", *jdk), sources, class_path, target, otherwise)
        if add is not None:
            add(target)

    return made_once(cache_folder() / f"{name}-{fingerprint(sources)}", make)


def _compile(javac: str, sources: Sequence[Path], class_path: str, target: Path, otherwise: str) -> None:
    call = [javac, "-nowarn", "-proc:none", "-encoding", "UTF-8", "-d", str(target), "-cp", class_path]
    call = ended_with_parent([*call, *map(str, sources)])
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RebalanceCheckError(f"{otherwise} {one_line(done.stderr)}")


def fingerprint(sources: Sequence[Path]) -> str:
    """A hash that changes when a source does."""
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def one_line(text: str) -> str:
    """The lines that a program printed, with bars between them, for a sentence."""
    return " | ".join(line.strip() for line in text.splitlines() if line.strip())
