"""The log of a Python consumer: kafka-python and aiokafka, through the application's ``logging``.

kafka-python names the client id where its I/O begins, aiokafka nowhere. Neither names the client in a line: two
consumers of one group in one process cannot be distinguished, and a line without a group belongs to the only one known.
aiokafka writes no revocation when it closes: it ends with its LeaveGroup. Neither has a line of its own for the start
of a process: the subscription stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import (
    AssignmentComputed,
    Fact,
    Joined,
    MembershipReset,
    NotUnderstood,
    ProcessStarted,
)
from rebalance_check.pipeline.diagnose.logs.python_sentences import ROWS
from rebalance_check.pipeline.diagnose.logs.records import LogRecord
from rebalance_check.pipeline.diagnose.logs.sentences import MOST_GROUPS, Known, repeats, with_generation
from rebalance_check.pipeline.diagnose.logs.templates import Templates

KAFKA_PYTHON: Final = re.compile(r"(?<![\w.])kafka\.(?:coordinator|consumer|net|cluster|client|conn)\b")
AIOKAFKA: Final = re.compile(r"(?<![\w.])aiokafka\.(?:consumer|cluster|conn|client)\b")
_COORDINATOR: Final = re.compile(
    r"(?<![\w.])(?:kafka\.coordinator(?:\.(?:base|consumer|heartbeat))?(?![\w.])|aiokafka\.consumer\.group_coordinator)"
)
_JAVA: Final = re.compile(r"\borg\.apache\.kafka\.|\[(?:Consumer|Worker) \w+=")
"""Kafka's own consumers write some of the sentences, too."""
_CLIENT: Final = re.compile(r"IO loop (?P<change>starting|exited cleanly) \(client_id=(?P<client>[^,)]*)")
_SUBSCRIBED: Final = re.compile(
    r"Updating subscribed topics to: (?P<topics>.*)$|Subscrib(?:ing to|ed to topic) pattern: "
)
_GROUP_OF_LINE: Final = re.compile(r"\bfor group (?P<group>\S+?)[.;:]?(?:\s|$)|\(Re-\)joining group (?P<joining>\S+)$")
_TOPIC: Final = re.compile(r"'([^']+)'")


def _head(record: LogRecord) -> str:
    return f"{record.logger} {record.fields.get('name', '')} {record.message[:200]}"


def is_kafka_python(record: LogRecord) -> bool:
    """Whether the record is of kafka-python, by the name of its logger."""
    return KAFKA_PYTHON.search(_head(record)) is not None


def is_aiokafka(record: LogRecord) -> bool:
    """Whether the record is of aiokafka, by the name of its logger."""
    return AIOKAFKA.search(_head(record)) is not None


@dataclass(slots=True)
class _Start:
    """A subscription that may be the start of a process. ``certain``: the client's I/O began before it."""

    release: str
    topics: tuple[str, ...]
    at: dict[str, Any]
    certain: bool


@dataclass(slots=True)
class _Group:
    known: Known = field(default_factory=Known)
    generation: int | None = None
    last: Fact | None = None


class PythonClientLog:
    """The facts of a Python consumer's log, by group."""

    def __init__(self) -> None:
        self._templates = Templates(ROWS)
        self._groups: dict[str, _Group] = {}
        self._client: str | None = ""
        self._loop = False
        self._start: _Start | None = None

    def read(self, record: LogRecord) -> Iterator[Fact | NotUnderstood]:
        """The facts of a record."""
        if _JAVA.search(_head(record)) or self._of_the_process(record):
            return
        facts = self._templates.facts(record)
        if facts is None:
            if _COORDINATOR.search(_head(record)):
                yield NotUnderstood(record.place, "a line of a Python client's group coordinator")
            return
        group = _group_of(record.message) or next((fact.group for fact in facts if fact.group), "")
        state = self._state(group)
        yield from self._started(state, facts)
        for fact in facts:
            if not repeats(known := self._known_of(state, fact), state.last):
                yield known
            state.last = known

    def _of_the_process(self, record: LogRecord) -> bool:
        """Lines about the process: its client id, and its subscription."""
        message = record.message
        if (found := _CLIENT.search(message)) is not None:
            if found["change"] == "starting":
                self._loop = True
                self._client = found["client"] if self._client in {"", found["client"]} else None
            elif self._client == found["client"]:
                self._client = ""
            return True
        found = _SUBSCRIBED.search(message)
        if found is None or (self._start is not None and "pattern" in message):
            return found is not None
        release = "aiokafka" if is_aiokafka(record) else "kafka-python" if is_kafka_python(record) else ""
        topics = tuple(sorted(_TOPIC.findall(found["topics"] or "")))
        at = {"place": record.place, "time_ms": record.time_ms}
        self._start, self._loop = _Start(release, topics, at, certain=self._loop), False
        return True

    def _state(self, group: str) -> _Group:
        """The state of a group. A line without one belongs to the only group, if there is one only."""
        if not group:
            return next(iter(self._groups.values())) if len(self._groups) == 1 else _Group()
        if group not in self._groups:
            if len(self._groups) >= MOST_GROUPS:
                del self._groups[next(iter(self._groups))]
            self._groups[group] = _Group(Known(group=group))
        return self._groups[group]

    def _started(self, state: _Group, facts: list[Fact]) -> Iterator[Fact]:
        """A later subscription is a start where a member id follows that is not the one before."""
        start = self._start
        if start is None or not state.known.group:
            return
        joined = next((fact for fact in facts if isinstance(fact, Joined)), None)
        if start.certain or not state.known.member or (joined is not None and joined.member != state.known.member):
            state.known.member, state.generation = "", None
            fact = ProcessStarted(client="", release=start.release, topics=start.topics, **start.at)
            yield self._known_of(state, fact)
        elif joined is None:
            return
        self._start = None

    def _known_of(self, state: _Group, fact: Fact) -> Fact:
        state.known.client = self._client or ""
        state.known.learn(fact)
        if isinstance(fact, Joined):
            state.generation = fact.generation
        elif isinstance(fact, AssignmentComputed):
            fact = with_generation(fact, state.generation)
        fact = state.known.into(fact)
        if isinstance(fact, MembershipReset):
            state.known.member, state.generation = "", None
        return fact


def _group_of(message: str) -> str:
    found = _GROUP_OF_LINE.search(message)
    return (found["group"] or found["joining"]) if found is not None else ""
