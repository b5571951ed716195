"""Files that hold parts of one run: they are merged or refused, never judged apart in silence.

Files that share no group, or that start runs of other subjects or seeds, are apart. Files that share a group are parts
of one run if no event number of a source stands in both. Other files are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted
from rebalance_check.properties.files import readable_events


@dataclass(slots=True)
class _Outline:
    """The marks of a run in its files: how it starts, and which numbers of which sources they hold."""

    path: Path
    start: RunStarted | None = None
    groups: set[str] = field(default_factory=set)
    numbers: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        """Note one event."""
        self.groups.add(event.group)
        if isinstance(event, RunStarted):
            self.start = self.start or event
        elif not isinstance(event, RunEnded):
            first_last = self.numbers.setdefault((event.group, event.source), [event.seq, event.seq])
            first_last[1] = event.seq

    def shares_a_group(self, other: _Outline) -> bool:
        """Whether both have events of one group; those of a run without a group concern every group."""
        run_alone = self.groups == {""} or other.groups == {""}
        return bool((self.groups & other.groups) - {""}) or run_alone

    def doubled(self, other: _Outline) -> str:
        """A source whose events stand in both files with the same number, in words; empty if there is none."""
        for (group, source), (first, last) in self.numbers.items():
            other_first, other_last = other.numbers.get((group, source), (last + 1, last))
            if first <= other_last and other_first <= last:
                return f"event {max(first, other_first)} of {source or 'an unnamed source'}"
        return ""


def runs_of_files(paths: Sequence[Path]) -> list[tuple[Path, ...]]:
    """The files by run, in the order in which they were named; several files in one tuple are parts of one run.

    Raises: RebalanceCheckError when that cannot be decided, or a file cannot be read.
    """
    outlines = [_outline(path) for path in paths]
    run_of = list(range(len(paths)))
    for one, other in combinations(range(len(paths)), 2):
        if not _are_apart(outlines[one], outlines[other]):
            joined = run_of[other]
            run_of = [run_of[one] if run == joined else run for run in run_of]
    runs = [[outline for outline, run in zip(outlines, run_of, strict=True) if run == number]
            for number in dict.fromkeys(run_of)]  # fmt: skip
    for run in runs:
        for a, b in combinations(run, 2):
            _refuse_doubled(a, b)
    return [tuple(outline.path for outline in run) for run in runs]


def _outline(path: Path) -> _Outline:
    outline = _Outline(path)
    for event in readable_events(path):
        outline.take(event)
    return outline


def _are_apart(one: _Outline, other: _Outline) -> bool:
    """Whether the files are of different runs: no group is in both, or each begins a run that is not the other's."""
    if not one.shares_a_group(other):
        return True
    if one.start is None or other.start is None:
        return False
    return _run(one.start) != _run(other.start) or bool(one.doubled(other))


def _run(start: RunStarted) -> tuple[object, ...]:
    return start.subject, start.seed, start.bounds, start.mutant


def _refuse_doubled(one: _Outline, other: _Outline) -> None:
    doubled = one.doubled(other)
    if doubled:
        raise RebalanceCheckError(
            f"{one.path} and {other.path} share a group and both hold {doubled}, so they are no parts of one run, and "
            "nothing says that they are two: begin each with its RunStarted, or judge each as a run with --separate"
        )
