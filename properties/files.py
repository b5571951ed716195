"""Judging history files: one that cannot be read whole is judged as far as it can be, and its faults are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.properties.history import Scanned, scan_history
from rebalance_check.properties.judge import judge_scanned
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.malformed import UnreadLine

_STEP: Final = 10_000


def judge_file(
    path: str | Path,
    invariants: Sequence[Invariant] | None = None,
    progress: ProgressListener = ignore_progress,
    *,
    require_tested: bool = False,
) -> Judgement:
    """Judge one file as it is read; nothing of it is kept. ``invariants`` defaults to the whole catalogue.

    ``require_tested`` as of `judge`. A line that cannot be read hides no verdict: a violation before it stands, and
    `Judgement.unread` names it.

    Raises: RebalanceCheckError when the file cannot be read, and MalformedHistory when none of its lines is an event.
    """
    return judge_scanned(
        _counted(scan_history(path), Path(path).name, progress), invariants, require_tested=require_tested
    )


def _counted(scanned: Iterable[Scanned], name: str, progress: ProgressListener) -> Iterator[Scanned]:
    for number, one in enumerate(scanned, 1):
        if number % _STEP == 0:
            progress(f"judge {name}", number, 0)
        yield one


def readable_events(path: str | Path) -> Iterator[Event]:
    """The events of a file, without the lines that cannot be read.

    Raises: RebalanceCheckError when the file cannot be read.
    """
    return (one for one in scan_history(path) if not isinstance(one, UnreadLine))
