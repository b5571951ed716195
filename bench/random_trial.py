"""One random edit on trial: planted, run by every means until one catches it, and held against runs without it."""

from __future__ import annotations

import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from types import CodeType, FrameType
from typing import Any, Final

from random_means import Finding, Means, Ran, all_means
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.mutants.edit import module_named
from rebalance_check.impl.mutants.random_edits import RandomEdit

LEAST_SECONDS: Final = 5.0
TIMES_SLOWER: Final = 20
"""An edited run that takes so many times the seconds of the unedited one, and `LEAST_SECONDS` more, does not end."""


IDLE_LOOKS: Final = 20
"""Seconds in which a run does nothing before it counts as one that waits for a lock of its own."""

_AT_WORK_S: Final = 0.0005
"""A look at the clock itself takes less."""


class End(StrEnum):
    """The end of an edit's trial. The first three are catches; *unchanged* means the same history in every run, *never
    run* that no run comes to the statement."""

    CLAIM = "claim"
    EXCEPTION = "exception"
    HANG = "hang"
    SURVIVED = "survived"
    UNCHANGED = "unchanged"
    NEVER_RUN = "never run"


CAUGHT: Final = frozenset({End.CLAIM, End.EXCEPTION, End.HANG})


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome for the edit with this number.

    ``means`` and ``seed`` say where it was caught, or where it first changed a history (empty and -1 for nowhere),
    ``claim`` caught it, ``detail`` how it shows. Of ``runs`` that come to the edited statement, ``changed`` had another
    history. ``seconds`` are those of the processor.
    """

    number: int
    end: End
    means: str = ""
    seed: int = -1
    claim: str = ""
    detail: str = ""
    command: str = ""
    runs: int = 0
    changed: int = 0
    seconds: float = 0.0
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """The run of a seed by some means without any edit: its digest, its seconds, and the edits that it comes to.

    Edits are named by number. One whose statement does not run here changes nothing here.
    """

    means: str
    seed: int
    digest: str
    seconds: float
    comes_to: frozenset[int]


class DoesNotEnd(BaseException):
    """An edited run takes too long; no handler of the implementation may take it for an error of its own."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `DoesNotEnd` in the body after so many seconds of this process's own time, or where it waits for itself."""
    end, last, idle = time.process_time() + seconds, 0.0, 0

    def look(_signal: int, _frame: FrameType | None) -> None:
        nonlocal last, idle
        now = time.process_time()
        last, idle = now, idle + 1 if now - last < _AT_WORK_S else 0
        if now > end or idle >= IDLE_LOOKS:
            raise DoesNotEnd

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@cache
def means_by_name() -> dict[str, Means]:
    """The general means, in the order in which they are tried."""
    return {means.name: means for means in all_means()}


def reference(name: str, seed: int, edits: Sequence[RandomEdit]) -> Reference:
    """The run of a seed without any edit, and which of ``edits`` it comes to."""
    started = time.process_time()
    ran, numbers = statements_run(lambda: means_by_name()[name].run(seed), edits)
    return Reference(name, seed, ran.digest, time.process_time() - started, numbers)


@cache
def claims_broken_anyway(name: str, seed: int) -> frozenset[str]:
    """The claims that the run of a seed breaks without any edit: they catch nothing there."""
    return frozenset(found.claim for found in means_by_name()[name].run(seed).judge())


def statements_run(call: Callable[[], Ran], edits: Sequence[RandomEdit]) -> tuple[Ran, frozenset[int]]:
    """The result of a call, and the numbers of the edits whose statement it runs."""
    watched = defaultdict[tuple[str, int], set[int]](set)
    for edit in edits:
        path = str(module_named(edit.edit.module).__file__)
        for line in range(edit.first, edit.last + 1):
            watched[path, line].add(edit.number)
    found = set[int]()

    def on_line(frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line" and (numbers := watched.get((frame.f_code.co_filename, frame.f_lineno))):
            found.update(numbers)
        return on_line

    tracers: dict[CodeType, Any] = {}

    def on_call(frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if code not in tracers:
            here = any((code.co_filename, line) in watched for _, _, line in code.co_lines() if line is not None)
            tracers[code] = on_line if here else None
        return tracers[code]

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        return call(), frozenset(found)
    finally:
        sys.settrace(before)


@dataclass(slots=True)
class _Tally:
    """The observations of one edit so far."""

    runs: int = 0
    changed: int = 0
    first: Reference | None = None
    caught: dict[str, Any] = field(default_factory=dict)


def try_edit(edit: RandomEdit, references: Iterable[Reference], *, explaining: bool = False) -> Trial:
    """Repeat the runs that come to the edited statement with the edit planted, until one of them catches it.

    With ``explaining`` it has the whole counterexample. A pure function of the edit and the source, but for seconds.
    """
    started, tally = time.process_time(), _Tally()
    for unedited in references:
        if edit.number in unedited.comes_to:
            tally.runs += 1
            tally.caught = _run(edit, unedited, tally, explaining)
        if tally.caught:
            break
    figures: dict[str, Any] = {"runs": tally.runs, "changed": tally.changed, "seconds": time.process_time() - started}
    if tally.caught:
        return Trial(edit.number, **tally.caught, **figures)
    if tally.first is None:
        return Trial(edit.number, End.UNCHANGED if tally.runs else End.NEVER_RUN, **figures)
    return Trial(edit.number, End.SURVIVED, **_place(tally.first), **figures)


def _place(at: Reference) -> dict[str, Any]:
    return {"means": at.means, "seed": at.seed, "command": means_by_name()[at.means].command(at.seed)}


def _run(edit: RandomEdit, unedited: Reference, tally: _Tally, explaining: bool) -> dict[str, Any]:
    """One edited run: the catch, as fields of a `Trial`, or nothing."""
    means, place = means_by_name()[unedited.means], _place(unedited)
    try:
        with limited(LEAST_SECONDS + TIMES_SLOWER * unedited.seconds), planted(edit.mutant):
            ran = means.run(unedited.seed)
            if ran.digest == unedited.digest:
                return {}
            found = ran.judge()
    except DoesNotEnd:
        tally.changed += 1
        return {"end": End.HANG, "detail": "does not end", **place}
    except Exception as error:
        tally.changed += 1
        return {
            "end": End.EXCEPTION,
            "claim": type(error).__name__,
            "detail": f"{type(error).__name__}: {error}",
            **place,
        }
    tally.changed += 1
    tally.first = tally.first or unedited
    return _caught(found, unedited, explaining)


def _caught(found: list[Finding], at: Reference, explaining: bool) -> dict[str, Any]:
    new = [one for one in found if one.claim not in claims_broken_anyway(at.means, at.seed)] if found else []
    if not new:
        return {}
    text = new[0].explain() if explaining else ""
    return {"end": End.CLAIM, "claim": new[0].claim, "detail": new[0].headline, "explanation": text, **_place(at)}
