"""Raw recordings: each process's observations, on disk before anything else happens, and how they become one history.

A raw line is the nanoseconds of the machine's monotonic clock, a tab, and the event as a history line. The clock is one
for all processes of a machine, so merging by it gives the order of observation. A process that is killed while it
writes leaves a line without its end; that line is dropped, as it was never observed in full.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from rebalance_check.impl.runtime.recorder import LastNumbers, Recorder, SharedRecorder
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.history import decode, encode


class RawRecording:
    """The file of one process, and its listener. Every event is one write, in the system's hands when it returns."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)

    def recorder(self, group: str, source: str) -> Recorder:
        """A recorder of the observer ``source`` that writes here."""
        return SharedRecorder(group, source, now_ms, self.write)

    def write(self, event: Event) -> None:
        """Append one event."""
        os.write(self._file, b"%d\t%b\n" % (time.monotonic_ns(), encode(event)))

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_recording(path: Path) -> Iterator[tuple[int, Event]]:
    """The events of one raw file with their nanoseconds; `RebalanceCheckError` when one is missing in between."""
    expected: Counter[str] = Counter()
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            return
        stamp, _, text = line.partition(b"\t")
        event = decode(text)
        if event.seq != expected[event.source]:
            raise RebalanceCheckError(
                f"{path} lacks an event of {event.source}: number {event.seq} follows {expected[event.source] - 1}; "
                "the recording is damaged, run it again"
            )
        expected[event.source] += 1
        yield int(stamp), event


def reserve(out: Path, name: str) -> tuple[Path, Path]:
    """A folder for the raw recordings of a run, made now, and the file for its history, which is not there yet.

    ``NAME.raw`` and ``NAME.jsonl`` below ``out``; where one of them exists, ``NAME.2``, ``NAME.3`` and so on: anything
    recorded before is never written over.

    Raises: OSError when the folder cannot be made.
    """
    out.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        mark = f".{number}" if number > 1 else ""
        folder, history = out / f"{name}{mark}.raw", out / f"{name}{mark}.jsonl"
        if history.exists():
            continue
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder, history
    raise AssertionError("there is always a further number")


def merge(recordings: Sequence[Path]) -> Iterator[Event]:
    """One history of all recordings, in the order of observation.

    Processes that follow each other under one name (a member that was killed and started again) become one source.
    """
    stamped = [(stamp, index, event) for index, path in enumerate(recordings) for stamp, event in read_recording(path)]
    return renumbered(event for _stamp, _index, event in sorted(stamped, key=lambda each: each[:2]))


def renumbered(events: Iterable[Event]) -> Iterator[Event]:
    """The events with sequence numbers given anew, from 0 for each source; `RunEnded` attests the new numbers.

    The caller has closed every source by the end of the run.
    """
    numbers: Counter[str] = Counter()
    last = LastNumbers(lambda _event: None)
    for event in events:
        new = replace(event, seq=numbers[event.source])
        numbers[event.source] += 1
        yield replace(new, last=last.attested) if isinstance(new, RunEnded) else new
        last(new)
