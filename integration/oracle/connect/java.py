"""Kafka's own Connect assignors of a release, in a Java process."""

from __future__ import annotations

import os
import re
import struct
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from rebalance_check.integration.jvm import (
    JARS_SETTING,
    JavaChild,
    cache_folder,
    compile_java,
    fetch_jars,
    fingerprint,
    java_tool,
    made_once,
)
from rebalance_check.integration.oracle.connect.request import LeaderConfigs, RoundAnswer, RoundRequest
from rebalance_check.integration.oracle.release import DEFAULT_VERSION, JDK, JVM_OPTIONS
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

SOURCES: Final = Path(__file__).parent / "java"
MAIN_CLASS: Final = "ConnectOracle"
OLDEST: Final = (2, 4)
"""The first release whose assignors are asked with a list of members."""

_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.\d+")
_JARS: Final = ("connect-*.jar", "kafka-clients-*.jar", "slf4j-*.jar")
_SMALL_BYTES: Final = 1 << 14
"""What fits into a pipe that nobody reads."""

_HISTORY, _RESTART, _ROUND = b"H", b"S", b"R"
_SHORT, _INT, _LONG = struct.Struct(">H"), struct.Struct(">i"), struct.Struct(">q")
_ROUND_NUMBERS: Final = struct.Struct(">qii")
_decode: Final = msgspec.json.Decoder(RoundAnswer).decode


class JavaConnectAssignors:
    """The assignors of one release of connect-runtime, as a context manager: the process is gone outside.

    ``version`` is a release since 2.4.0. `RebalanceCheckError` when there is no Java, or no jars can be had. Rounds
    can be posted and collected together, which spares the way to the process and back for each.
    """

    def __init__(self, version: str = DEFAULT_VERSION) -> None:
        self.version = version
        self._child = JavaChild(f"the Connect assignors of {self.name}", command(version), 1 << 16)
        self._posted: list[bytes] = []
        self._waiting = 0

    @property
    def name(self) -> str:
        """``connect-runtime 4.3.1``."""
        return f"connect-runtime {self.version}"

    def begin(self, max_delay_ms: int) -> None:
        """Forget all workers."""
        self._posted.append(_HISTORY + _INT.pack(max_delay_ms))

    def restart(self, worker: str) -> None:
        """Forget one worker."""
        self._posted.append(_RESTART + _text(worker))

    def ask(self, request: RoundRequest) -> RoundAnswer:
        """Compute a round."""
        self.post(request)
        return self.collect()[-1]

    def post(self, request: RoundRequest) -> None:
        """Note a round; `collect` has it computed."""
        self._posted.append(b"".join(_encoded(request)))
        self._waiting += 1

    def collect(self) -> list[RoundAnswer]:
        """Have what was posted computed, and return the answers in order.

        Raises: `RebalanceCheckError` when the process has ended.
        """
        data, waiting = b"".join(self._posted), self._waiting
        self._posted, self._waiting = [], 0
        writer = threading.Thread(target=self._write, args=(data,), daemon=True)
        if len(data) < _SMALL_BYTES:
            self._write(data)
        else:
            writer.start()  # neither side waits for the other with a full pipe
        answers = [self._read() for _ in range(waiting)]
        if writer.ident is not None:
            writer.join()
        return answers

    def _write(self, data: bytes) -> None:
        with suppress(BrokenPipeError):  # the reader sees the end, and says why
            self._child.input.write(data)
            self._child.input.flush()

    def _read(self) -> RoundAnswer:
        line = self._child.output.readline()
        if not line.endswith(b"\n"):
            raise self._child.ended()
        return _decode(line)

    def close(self) -> None:
        """End the process, and wait for its end."""
        self._child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _encoded(request: RoundRequest) -> Iterable[bytes]:
    """A round as the Java side reads it: big-endian, strings as ``writeUTF``."""
    yield _ROUND
    yield _text(request.worker)
    yield _text(request.protocol)
    yield _text(request.leader)
    yield _ROUND_NUMBERS.pack(request.now_ms, request.generation, request.last_completed_generation)
    yield from _configs(request.known)
    yield from _configs(request.latest)
    yield _SHORT.pack(len(request.members))
    for member, metadata in request.members:
        yield _text(member)
        yield _INT.pack(len(metadata))
        yield metadata


def _configs(configs: LeaderConfigs) -> Iterable[bytes]:
    yield _LONG.pack(configs.offset)
    yield _SHORT.pack(len(configs.task_counts))
    for connector, tasks in configs.task_counts.items():
        yield _text(connector)
        yield _INT.pack(tasks)


def _text(text: str) -> bytes:
    """``writeUTF``, which is UTF-8 for all but NUL and what lies beyond 16 bits."""
    if "\0" in text or any(ord(char) > 0xFFFF for char in text):
        raise RebalanceCheckError(f"{text!r} cannot go to the Java assignors: use names without NUL and emoji")
    data = text.encode()
    return _SHORT.pack(len(data)) + data


def command(version: str) -> list[str]:
    """How the Connect assignors of a release are started.

    Raises: `RebalanceCheckError` without Java or jars.
    """
    jars = sorted(path for pattern in _JARS for path in _folder(version).glob(pattern))
    class_path = os.pathsep.join(map(str, [_compiled(jars), *jars]))
    return [java_tool("java", *JDK), *JVM_OPTIONS, "-XX:TieredStopAtLevel=1", "-cp", class_path, MAIN_CLASS]


def _folder(version: str) -> Path:
    """The folder with the jars of a release: below the one of REBALANCE_CHECK_KAFKA_JARS, or fetched by Maven."""
    match = _VERSION.fullmatch(version)
    if match is None or (int(match[1]), int(match[2])) < OLDEST:
        raise RebalanceCheckError(f"{version!r} is no release of Kafka Connect since 2.4.0: write one like 4.3.1")
    setting = os.environ.get(JARS_SETTING)
    if setting:
        folder = Path(setting.replace("{version}", version)).expanduser()
        for place in (folder / version, folder):
            if (place / f"connect-runtime-{version}.jar").is_file():
                return place
    return _from_maven(version)


def _from_maven(version: str) -> Path:
    advice = f"put connect-runtime-{version}.jar, connect-api, kafka-clients and slf4j-api into a folder and set "
    advice += f"{JARS_SETTING} to it"

    def fetch(target: Path) -> None:
        needs = f"the Connect assignors of Kafka {version} need its jars: install Maven, or {advice}"
        fetch_jars(SOURCES / "pom.xml", version, target, without_maven=needs, otherwise=advice)

    return made_once(cache_folder() / "connect-assignors" / "jars" / version, fetch)


def _compiled(jars: list[Path]) -> Path:
    """The classes, one set for all releases: what differs between them is found by reflection."""
    sources = sorted(SOURCES.glob("*.java"))

    def compile_into(target: Path) -> None:
        otherwise = "the Java side of the Connect assignors does not compile:"
        class_path = os.pathsep.join(map(str, jars))
        compile_java(java_tool("javac", *JDK), sources, class_path, target, otherwise=otherwise)

    return made_once(cache_folder() / "connect-assignors" / f"classes-{fingerprint(sources)}", compile_into)
