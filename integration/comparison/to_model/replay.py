"""Replay: schedules of the model run on a broker, many groups at once, and every answer is held against the model's.

The history of each schedule is on disk before the next one begins; a difference is data, never an exception.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.impl.comparison.to_model.subject import ConformanceSubject
from rebalance_check.integration.brokers.open import Broker
from rebalance_check.integration.comparison.to_model.real_timers import RealTimeTransport
from rebalance_check.integration.comparison.to_model.socket import SocketTransport
from rebalance_check.integration.exchange.nodes import require_one_node
from rebalance_check.integration.virtual import VirtualSubject, VirtualTransport
from rebalance_check.integration.wire.kafka_python import errors
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.model.vocabulary.schedule import Schedule, run
from rebalance_check.properties.history import write_history

GROUPS_AT_ONCE: Final = 8
GROUPS_AT_ONCE_WITH_TIMERS: Final = 32
"""With real timers a group mostly waits, so many more fit side by side."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """One schedule: its history on disk, the requests sent, the actions that the coordinator's choices made void, and
    where broker and model differ, if they do. ``failure`` says why the schedule broke off, "" where it did not."""

    schedule: Schedule
    history: Path
    requests: int
    skipped: int
    difference: Difference | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """All schedules, in their order, and how long they took together in seconds."""

    broker: str
    replayed: tuple[Replayed, ...]
    seconds: float

    @property
    def schedules(self) -> int:
        """How many schedules were replayed."""
        return len(self.replayed)

    @property
    def requests(self) -> int:
        """How many group requests were sent."""
        return sum(each.requests for each in self.replayed)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Where broker and model differ, of each schedule on which they do."""
        return tuple(each.difference for each in self.replayed if each.difference is not None)

    @property
    def histories(self) -> tuple[Path, ...]:
        """The history of each schedule."""
        return tuple(each.history for each in self.replayed)


def replay(
    broker: Broker,
    schedules: Sequence[Schedule],
    out: Path,
    *,
    real_timers: bool = False,
    keep_going: bool = False,
    progress: ProgressListener = ignore_progress,
) -> ReplayResult:
    """Replay ``schedules`` on ``broker``, each in a group of its own, and write their histories to ``out``.

    On a socket their bounds must have ``initial_delay=False``. With ``real_timers`` sessions end by running out instead
    of by a LeaveGroup in the member's name; the bounds must then have ``member_id_required=False``. On virtual Kafka
    they always run out. With ``keep_going`` a schedule during which the broker fails (it closes a connection, or does
    not answer) is noted (`Replayed.failure`), and the others are replayed; without, the failure is raised.
    """
    started = time.monotonic()
    done = _Counter(len(schedules), progress)

    def one(numbered: tuple[int, Schedule]) -> Replayed:
        history = out / f"{numbered[0]:05d}.jsonl"
        try:
            replayed = _replay_one(broker, numbered[1], history, real_timers=real_timers)
        except (RebalanceCheckError, OSError, errors.KafkaError) as failure:
            if not keep_going:
                raise
            replayed = Replayed(numbered[1], history, 0, 0, None, str(failure) or type(failure).__name__)
        done.add()
        return replayed

    workers = GROUPS_AT_ONCE_WITH_TIMERS if real_timers else GROUPS_AT_ONCE
    if broker.virtual is not None:
        workers = 1  # its process serves one thread, and nothing there is waited for
    else:
        require_one_node(broker.bootstrap)
    with ThreadPoolExecutor(workers, thread_name_prefix="replay") as pool:
        replayed = tuple(pool.map(one, enumerate(schedules)))
    return ReplayResult(broker.name, replayed, time.monotonic() - started)


def _replay_one(broker: Broker, schedule: Schedule, history: Path, *, real_timers: bool) -> Replayed:
    transport, subject = _subject(broker, real_timers=real_timers)
    write_history(history, run(subject, schedule))
    return Replayed(schedule, history, transport.requests, subject.skipped, subject.difference)


def _subject(broker: Broker, *, real_timers: bool) -> tuple[SocketTransport | VirtualTransport, ConformanceSubject]:
    if broker.virtual is not None:
        virtual = VirtualSubject(broker.virtual)
        return virtual.transport, virtual
    transport = (RealTimeTransport if real_timers else SocketTransport)(broker.bootstrap, broker.served)
    return transport, ConformanceSubject(broker.name, transport)


class _Counter:
    """Counts the schedules done, and tells."""

    def __init__(self, total: int, progress: ProgressListener) -> None:
        self._lock = threading.Lock()
        self._done = 0
        self._total = total
        self._progress = progress

    def add(self) -> None:
        with self._lock:
            self._done += 1
            self._progress("replay", self._done, self._total)
