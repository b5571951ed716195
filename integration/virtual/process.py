"""The Java process of virtual Kafka, and its environments (``Environment.java`` is the other side).

Messages are collected and go out in one write when an answer is waited for, so that many requests, also of many
environments, share a round trip.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from rebalance_check.integration.jvm.child import JavaChild
from rebalance_check.integration.jvm.release import Release
from rebalance_check.integration.jvm.services import COORDINATORS, service_command
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class Result(msgspec.Struct, frozen=True):
    """The answer to a message: replies to all requests that it completed (None where the broker hangs up), and more.

    ``text`` is what a command prints, ``inspected`` a group's generation and leader as an insider knows them, and how
    DescribeGroups shows it; ``thrown`` is an exception of the coordinator that no reply reports: a broker writes it to
    its log, and goes on.
    """

    replies: tuple[tuple[int, bytes | None], ...] = ()
    text: str = ""
    inspected: tuple[int, str, bytes] | None = None
    thrown: str = ""
    refused: str = ""


_decode: Final = msgspec.json.Decoder(Result).decode
_NOTHING: Final = Result()


class VirtualEnvironment:
    """One of the environments in a process: a virtual time, a journal, its nodes. `reset` begins a run."""

    def __init__(self, kafka: VirtualKafka, number: int) -> None:
        self.kafka = kafka
        self.requests = 0
        self.replies: list[tuple[int, bytes | None]] = []
        """The replies that have come, each with the number of its request; None where the broker hangs up."""
        self.thrown: list[str] = []
        """Exceptions of the coordinator that no reply reported: a broker writes them to its log, and goes on."""
        self._name = str(number)
        self._wanted: dict[int, Result | None] = {}
        self._ignored: set[int] = set()

    def reset(self, seed: int, topics: Mapping[str, int], settings: Mapping[str, str] | None = None) -> None:
        """A new environment: an empty journal, time at its start, node 0 elected in epoch 0, member ids after ``seed``.

        ``topics`` has the number of partitions of each, ``settings`` a broker's, by Kafka's names.
        """
        settings = {**(settings or {}), **({"coordinator": "scala"} if self.kafka.release.scala else {})}
        self.replies.clear()
        self.thrown.clear()
        options = {"name": self._name, "seed": seed, "topics": topics, "settings": settings}
        self._post({"open": options}, 0)

    def post(self, request: bytes, node: int = 0) -> int:
        """Send a request, from its header on; its number, which its reply will carry."""
        self.requests += 1
        return self._post({"frame": request, "number": self.kafka.next_number}, node)

    def post_control(self, text: str, node: int = 0) -> int:
        """Send a command; its `answer` comes under the number returned."""
        return self._want(self._post({"control": text}, node))

    def order(self, text: str, node: int = 0) -> None:
        """Send a command whose answer says nothing; when it is refused, whatever waits next for an answer raises."""
        self._post({"control": text}, node)

    def post_inspection(self, group: str, node: int = 0) -> int:
        """Ask what a group looks like; its `answer` comes under the number returned."""
        return self._want(self._post({"inspect": group}, node))

    def control(self, text: str, node: int = 0) -> str:
        """Do what a command says (``Environment.java``); what it prints. `RebalanceCheckError` when it was refused."""
        return self.answer(self.post_control(text, node)).text

    def answer(self, number: int) -> Result:
        """The answer of this number, waited for. `RebalanceCheckError` when it was refused."""
        self.kafka.wait(number)
        answer = self._wanted.pop(number, None) or _NOTHING
        if answer.refused:
            raise RebalanceCheckError(f"virtual Kafka refused: {answer.refused}")
        return answer

    def ignore(self, number: int) -> None:
        """Nobody will ask for the answer of this number."""
        if self._wanted.pop(number, None) is None:
            self._ignored.add(number)

    def take_replies(self) -> list[tuple[int, bytes | None]]:
        """The replies since the last call."""
        taken, self.replies = self.replies, []
        return taken

    def _post(self, message: dict[str, object], node: int) -> int:
        message["run"] = self._name
        message["node"] = node
        return self.kafka.send(message, self._receive_result)

    def _want(self, number: int) -> int:
        self._wanted[number] = None
        return number

    def _receive_result(self, number: int, line: bytes) -> None:
        if self.kafka.trace is not None:
            self.kafka.trace.append(line)
        if line == b"{}":
            return
        result = _decode(line)
        self.replies += result.replies
        if result.thrown:
            self.thrown.append(result.thrown)
        if number in self._wanted:
            self._wanted[number] = result
        elif number in self._ignored:
            self._ignored.remove(number)
        elif result.refused:
            raise RebalanceCheckError(f"virtual Kafka refused: {result.refused}")


class VirtualKafka(JavaChild):
    """A running process, as a context manager: it is gone outside. One thread at a time.

    ``trace``, when it is a list, collects all lines that come back.
    """

    def __init__(self, release: Release) -> None:
        super().__init__("virtual Kafka", service_command(COORDINATORS, release))
        self.release = release
        self.trace: list[bytes] | None = None
        self._environments: list[VirtualEnvironment] = []
        self._idle: list[VirtualEnvironment] = []

    def environment(self) -> VirtualEnvironment:
        """An environment that no run uses; it must be reset before anything else."""
        if self._idle:
            return self._idle.pop()
        self._environments.append(VirtualEnvironment(self, len(self._environments)))
        return self._environments[-1]

    def give_back(self, environment: VirtualEnvironment) -> None:
        """A environment is not needed any more; the next run may have it."""
        self._idle.append(environment)

    @property
    def requests(self) -> int:
        """How many requests were sent, in all environments."""
        return sum(environment.requests for environment in self._environments)
