"""Kafka's own Connect assignors of a release, in a Java process."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from rebalance_check.integration.jvm import JavaChild, JavaService, java_tool
from rebalance_check.integration.oracle.connect.request import LeaderConfigs, RoundAnswer, RoundRequest
from rebalance_check.integration.oracle.jars import JDK, ReleaseJars
from rebalance_check.integration.oracle.release import DEFAULT_VERSION, JVM_OPTIONS
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MAIN_CLASS: Final = "ConnectOracle"
WORKER_JARS: Final = ReleaseJars(
    whose="Connect assignors",
    product="Kafka Connect",
    cache="connect-assignors",
    first="connect-runtime",
    others=", connect-api, kafka-clients and slf4j-api",
    patterns=("connect-*.jar", "kafka-clients-*.jar", "slf4j-api-*.jar", "slf4j-nop-*.jar"),
    sources=Path(__file__).parent / "java",
)

_HISTORY, _RESTART, _ROUND = b"H", b"S", b"R"
_SHORT, _INT, _LONG = struct.Struct(">H"), struct.Struct(">i"), struct.Struct(">q")
_ROUND_NUMBERS: Final = struct.Struct(">qii")
_decode: Final = msgspec.json.Decoder(RoundAnswer).decode


class JavaConnectAssignors(JavaService):
    """The assignors of one release of connect-runtime, as a context manager: the process is gone outside.

    ``version`` is a release since 2.4.0. `RebalanceCheckError` when there is no Java, or no jars can be had. Rounds
    can be posted and collected together, which spares the way to the process and back for each.
    """

    def __init__(self, version: str = DEFAULT_VERSION) -> None:
        self.version = version
        super().__init__(JavaChild(f"the Connect assignors of {self.name}", command(version), 1 << 16))
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
        with self._child.sending(data):
            return [_decode(self._child.read_line()) for _ in range(waiting)]


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
    class_path = WORKER_JARS.class_path(version)
    return [java_tool("java", *JDK), *JVM_OPTIONS, "-XX:TieredStopAtLevel=1", "-cp", class_path, MAIN_CLASS]
