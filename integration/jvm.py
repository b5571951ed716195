"""What everything that runs Java shares: a JDK's tools, the cache of what was fetched or compiled, child processes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from rebalance_check.integration.interrupts import is_interrupted
from rebalance_check.integration.parent import ended_with_parent
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

JARS_SETTING: Final = "REBALANCE_CHECK_KAFKA_JARS"
"""The environment variable with the folder of a release's jars, or of a folder for each release."""

MAVEN_TIMEOUT_S: Final = 600.0

_SMALL_BYTES: Final = 1 << 14
"""What fits into a pipe before its reader begins."""

_LOG_TAIL_BYTES: Final = 2000
_END_TIMEOUT_S: Final = 10.0


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
    """Where this package keeps what it can make again."""
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
    """``folder``, which ``make`` fills where it is not there yet; what it leaves half done does not get that place."""
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


def fetched_jars(pom: Path, version: str, folder: Path, *, without_maven: str, otherwise: str) -> Path:
    """``folder``, which Maven fills once with the jars that ``pom`` names for a release of Kafka.

    Raises: `RebalanceCheckError` when there is no Maven, which says ``without_maven``, and when it fails, with what it
    said and ``otherwise``, the next move.
    """
    return made_once(folder, lambda target: _fetch(pom, version, target, without_maven, otherwise))


def _fetch(pom: Path, version: str, target: Path, without_maven: str, otherwise: str) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise RebalanceCheckError(without_maven)
    call = [maven, "--batch-mode", "--quiet", "--file", str(pom), f"-Dkafka.version={version}"]
    call += ["dependency:copy-dependencies", f"-DoutputDirectory={target}", "-DincludeScope=runtime"]
    done = subprocess.run(ended_with_parent(call), capture_output=True, text=True, check=False, timeout=MAVEN_TIMEOUT_S)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines() or ["it said nothing"]
        raise RebalanceCheckError(f"Maven could not fetch the jars of Kafka {version} ({said[0]}): {otherwise}")


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

    ``jdk`` is what needs a JDK, and its oldest Java; ``add`` puts into the new folder what is not compiled.

    Raises: `RebalanceCheckError` when there is no JDK, and with ``otherwise`` and what ``javac`` says when it fails.
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
    """What changes when a source does."""
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def one_line(text: str) -> str:
    """What a program printed, for a sentence: its lines with bars between them."""
    return " | ".join(line.strip() for line in text.splitlines() if line.strip())


class JavaChild:
    """A Java process that answers on its standard streams, and whose complaints are kept for when it ends.

    ``name`` is what errors call it; ``buffer_bytes`` of the streams, 0 for none. It ends when its input is closed, and
    with this process.
    """

    def __init__(self, name: str, command: Sequence[str], buffer_bytes: int = 0) -> None:
        self._name = name
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close(), with the process
        pipe = subprocess.PIPE
        # A session of its own: an interrupt from the terminal reaches only who started it, who then closes it.
        self._process = subprocess.Popen(
            ended_with_parent(command),
            stdin=pipe,
            stdout=pipe,
            stderr=self._log,
            bufsize=buffer_bytes,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.input, self.output = self._process.stdin, self._process.stdout

    def send(self, data: bytes) -> None:
        """Write and flush; when the process has ended, whatever reads next from it says why."""
        with suppress(BrokenPipeError):
            self.input.write(data)
            self.input.flush()

    @contextmanager
    def sending(self, data: bytes) -> Iterator[None]:
        """Send ``data`` while the caller reads, so that neither side waits for the other with a full pipe.

        When the caller gives up, the process is killed: it may wait for ever for answers to be read.
        """
        if len(data) < _SMALL_BYTES:
            self.send(data)
            yield
            return
        writer = threading.Thread(target=self.send, args=(data,), daemon=True)
        writer.start()
        try:
            yield
        except BaseException:
            self._process.kill()
            raise
        finally:
            writer.join()

    def read_line(self) -> bytes:
        """The next line, with its end.

        Raises: `RebalanceCheckError` when the process has ended.
        """
        line = self.output.readline()
        if not line.endswith(b"\n"):
            raise self.ended()
        return line

    def ended(self) -> RebalanceCheckError:
        """Wait for its end, which came too early: the error that says why."""
        code = self._process.wait()
        self._log.seek(0, os.SEEK_END)
        self._log.seek(-min(self._log.tell(), _LOG_TAIL_BYTES), os.SEEK_END)
        said = one_line(self._log.read().decode(errors="replace")) or "it printed nothing"
        return RebalanceCheckError(f"{self._name} ended with exit code {code} while it was needed: {said}")

    def close(self) -> None:
        """End the process, and wait for its end; after an interruption it is killed, as it may take seconds to end."""
        if is_interrupted():
            self._process.kill()
        with suppress(BrokenPipeError):  # it may have ended before
            self.input.close()
        self.output.close()
        try:
            self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


class JavaService:
    """What a `JavaChild` answers, as a context manager: the process is gone outside."""

    def __init__(self, child: JavaChild) -> None:
        self._child = child

    def close(self) -> None:
        """End the process, and wait for its end."""
        self._child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
