"""The files of a Java worker as events: the journal of the recording connector, and Kafka's log.

The journal says what really runs; its times are the machine's monotonic clock. The log says what the worker joined and
was assigned; its times are wall-clock milliseconds, cut off, so that consequences of a line have later times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.config_events import ProducerInitialised
from rebalance_check.model.vocabulary.connect_events import (
    AssignmentAccepted,
    CancelledWorkEnded,
    ConnectAssignmentReceived,
    ConnectorStarted,
    ConnectorStopped,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
)
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, MemberJoined, MembershipLost, RequestAnswered
from rebalance_check.model.vocabulary.ids import NO_GENERATION

Stamped: TypeAlias = tuple[int, Event]
"""An event, and the nanoseconds of the machine's monotonic clock at which it happened."""

_Found: TypeAlias = Event | tuple[Event, ...] | None

STARTED: Final = "started"
STOPPED: Final = "stopped"
BLOCKED: Final = "blocked"
CONFIG_MISMATCH: Final = "CONFIG_MISMATCH"
LEADER_PRODUCER: Final = "connect-cluster-"
"""How the transactional id of the leader's producer of the config topic begins."""

PROTOCOLS: Final = {0: "default", 1: "compatible", 2: "sessioned"}

_NS_PER_MS: Final = 1_000_000
_JOURNAL_LINE: Final = re.compile(rf"(\d+)\t({STARTED}|{STOPPED}|{BLOCKED})\t([^\t]+)\t(\d+)")
_STAMP: Final = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) \w+ \w+ ")
_JOINED: Final = re.compile(
    r"WorkerCoordinator .*Successfully joined group with generation "
    r"Generation\{generationId=(\d+), memberId='([^']+)', protocol='(\w+)'"
)
_ASSIGNED: Final = re.compile(
    r"Joined group at generation (\d+) with protocol version (-?\d+) and got assignment: "
    r"Assignment\{error=(\d+), leader='([^']*)', leaderUrl='([^']*)', offset=(-?\d+), connectorIds=\[([^]]*)\], "
    r"taskIds=\[([^]]*)\], revokedConnectorIds=\[([^]]*)\], revokedTaskIds=\[([^]]*)\], delay=(\d+)\}"
)
_ACCEPTED: Final = re.compile(r"Starting connectors and tasks using config offset (-?\d+)")
_LEAVING: Final = re.compile(r"WorkerCoordinator .* sending LeaveGroup request to coordinator .* due to (.+?)\.?$")
_REFUSED: Final = re.compile(
    r"WorkerCoordinator .*Resetting generation (?:and member id )?due to: encountered (\w+) from (\w+) response"
)
_PRODUCER: Final = re.compile(r"transactionalId=([^],]+)\] ProducerId set to \d+ with epoch (\d+)")
_CANCELLED: Final = re.compile(r"Graceful stop of task (\S+) failed\.|Connector .(.+?). failed to properly shut down")


@dataclass(frozen=True, slots=True)
class JournalLine:
    """A connector or task started, stopped, or blocks in an operation.

    ``incarnation`` is another number for each that was started, and 0 where one blocks.
    """

    stamp_ns: int
    what: str
    item: str
    incarnation: int


def read_journal(path: Path) -> Iterator[JournalLine]:
    """The lines of a journal; none before the first start, which creates the file. A line that is cut off is left out.

    Raises:
        RebalanceCheckError: a line is none of a journal.
    """
    if not path.exists():
        return
    for line in path.read_text().splitlines(keepends=True):
        if not line.endswith("\n"):
            return
        match = _JOURNAL_LINE.fullmatch(line.rstrip("\n"))
        if match is None:
            raise RebalanceCheckError(f"{path} has a line that is none of a journal, {line!r}: run it again")
        yield JournalLine(int(match[1]), match[2], match[3], int(match[4]))


def running(path: Path) -> dict[str, int]:
    """The running work by a journal: how often each connector and task runs, an abandoned one included."""
    lines = list(read_journal(path))
    ended = {line.incarnation for line in lines if line.what == STOPPED}
    alive: dict[str, int] = {}
    for line in lines:
        if line.what == STARTED and line.incarnation not in ended:
            alive[line.item] = alive.get(line.item, 0) + 1
    return alive


@dataclass(slots=True)
class _Reading:
    """The events of one worker process so far, and its view of its membership."""

    member: str
    group: str
    generation: int = NO_GENERATION
    member_id: str = ""
    protocol: str = ""
    assigned: tuple[str, ...] = ()
    latest: dict[str, int] = field(default_factory=dict)
    running: dict[str, set[int]] = field(default_factory=dict)
    cancelled: set[tuple[str, int]] = field(default_factory=set)
    refusals: int = 0

    @property
    def at(self) -> dict[str, Any]:
        return {"member": self.member, "generation": self.generation, "member_id": self.member_id}

    # ------------------------------------------------------------------------------------------------ the journal

    def on_line(self, line: JournalLine) -> tuple[Event, ...]:
        match line.what:
            case "started":
                return (self._started(line),)
            case "stopped":
                return (self._stopped(line),)
            case _:
                return ()

    def _started(self, line: JournalLine) -> Event:
        self.latest[line.item] = line.incarnation
        self.running.setdefault(line.item, set()).add(line.incarnation)
        return self._of(line.item, ConnectorStarted, TaskStarted)

    def _stopped(self, line: JournalLine) -> Event:
        self.running.get(line.item, set()).discard(line.incarnation)
        if (line.item, line.incarnation) in self.cancelled or self.latest.get(line.item) != line.incarnation:
            return CancelledWorkEnded(work=line.item, **self.at)
        return self._of(line.item, ConnectorStopped, TaskStopped)

    def _of(self, item: str, of_connector: Callable[..., Event], of_task: Callable[..., Event]) -> Event:
        return of_task(task=item, **self.at) if is_task(item) else of_connector(connector=item, **self.at)

    # ------------------------------------------------------------------------------------------------ the log

    def on_log(self, text: str) -> tuple[Event, ...]:
        for pattern, take in self._patterns():
            match = pattern.search(text)
            if match is not None:
                found = take(match)
                return () if found is None else found if isinstance(found, tuple) else (found,)
        return ()

    def _patterns(self) -> tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Found]], ...]:
        return (
            (_JOINED, self._joined),
            (_ASSIGNED, self._received),
            (_ACCEPTED, self._accepted),
            (_CANCELLED, self._gave_up),
            (_LEAVING, self._left),
            (_REFUSED, self._refused),
            (_PRODUCER, self._initialised),
        )

    def _joined(self, match: re.Match[str]) -> Event:
        self.generation, self.member_id, self.protocol = int(match[1]), match[2], match[3]
        return MemberJoined(protocol=self.protocol, **self.at)

    def _received(self, match: re.Match[str]) -> Event:
        self.generation = int(match[1])
        revoked = (*_items(match[9]), *_items(match[10]))
        self.assigned = (*_items(match[7]), *_items(match[8]))
        return ConnectAssignmentReceived(
            protocol=PROTOCOLS.get(int(match[2]), self.protocol),
            error="NONE" if match[3] == "0" else CONFIG_MISMATCH,
            leader=match[4], leader_url=match[5], config_offset=int(match[6]),
            assigned=self.assigned, revoked=revoked, delay_ms=int(match[11]),
            **self.at,
        )  # fmt: skip

    def _accepted(self, match: re.Match[str]) -> Event:
        work = tuple(item for item in self.assigned if not self.running.get(item))
        return AssignmentAccepted(config_offset=int(match[1]), work=work, **self.at)

    def _gave_up(self, match: re.Match[str]) -> Event | None:
        item = match[1] or match[2]
        incarnation = self.latest.get(item)
        if incarnation is None or incarnation not in self.running.get(item, ()):
            return None
        self.cancelled.add((item, incarnation))
        return WorkCancelled(work=item, **self.at)

    def _initialised(self, match: re.Match[str]) -> Event:
        work = "" if match[1].startswith(LEADER_PRODUCER) else match[1].removeprefix(f"{self.group}-")
        return ProducerInitialised(member=self.member, transactional_id=match[1], epoch=int(match[2]), work=work)

    def _left(self, match: re.Match[str]) -> Event | None:
        return self._lost(match[1])

    def _refused(self, match: re.Match[str]) -> _Found:
        """The answer that ended the membership, and that it ended."""
        if self.generation == NO_GENERATION:
            return None
        self.refusals += 1
        api = "".join(word.capitalize() for word in match[2].split("_"))
        answered = RequestAnswered(member=self.member, request=-self.refusals, api=api, error=match[1])
        lost = self._lost(match[1])
        return answered if lost is None else (answered, lost)

    def _lost(self, reason: str) -> Event | None:
        if self.generation == NO_GENERATION:
            return None
        lost = MembershipLost(reason=reason, **self.at)
        self.generation, self.member_id = NO_GENERATION, ""
        return lost


def is_task(item: str) -> bool:
    """Whether the name is a task's: a connector's, a dash and a number."""
    return item.rpartition("-")[2].isdecimal()


def worker_events(
    member: str, group: str, journal: Path, log: Path, wall_to_monotonic_ns: int
) -> Iterator[Stamped]:  # fmt: skip
    """The events of one worker process of the group, in the order of time.

    ``wall_to_monotonic_ns`` is by how much the machine's monotonic clock is ahead of its wall clock, in nanoseconds.

    Raises:
        RebalanceCheckError: the journal is damaged.
    """
    reading = _Reading(member, group)
    lines: list[tuple[int, int, JournalLine | str]] = [(line.stamp_ns, 1, line) for line in read_journal(journal)]
    lines += [(stamp + wall_to_monotonic_ns, 0, text) for stamp, text in log_lines(log)]
    for stamp, _rank, line in sorted(lines, key=lambda each: each[:2]):
        for event in reading.on_log(line) if isinstance(line, str) else reading.on_line(line):
            yield stamp, event


def log_lines(log: Path) -> Iterator[tuple[int, str]]:
    """Each line of the log that has a time, and that time in nanoseconds since 1970."""
    for line in log.read_text(errors="replace").splitlines():
        match = _STAMP.match(line)
        if match is not None:
            seconds = int(datetime.fromisoformat(match[1]).replace(tzinfo=UTC).timestamp())
            yield (seconds * 1000 + int(match[2])) * _NS_PER_MS, line


def _items(text: str) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()
