"""Several files of one run become one history: ordered by the protocol, and judged in every order that it allows.

Clocks of different observers are not comparable, so they decide nothing: a claim that is violated in one order that
could have been and not in another is undecided. A user who knows how far the clocks differ at most says so
(``max_skew_ms``); then they order events that lie further apart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted
from rebalance_check.properties.causality import Place, certain_order
from rebalance_check.properties.history import Scanned
from rebalance_check.properties.judge import judge_scanned
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.malformed import UnreadLine
from rebalance_check.properties.verdict import Undecided, Verdict, Violated, place_of

Order: TypeAlias = tuple[int, ...]
"""The numbers of the files, in the order in which their next lines are taken."""
_FAR: Final = float("inf")


@dataclass(frozen=True, slots=True)
class HistoryPart:
    """One file of a run: its name, and its lines as `scan_history` reads them."""

    name: str
    lines: tuple[Scanned, ...]


class MergedHistory:
    """The files of one run. ``events`` are in the most probable order; `judge` considers the others, too."""

    def __init__(self, parts: Sequence[HistoryPart], max_skew_ms: int | None = None) -> None:
        self.names = tuple(part.name for part in parts)
        self._files = _with_one_frame([list(part.lines) for part in parts])
        self._times = [_times(lines) for lines in self._files]
        self._certain = certain_order(self._files)
        self._skew = max_skew_ms
        self._is_merged = len(self._files) > 1
        edges = [*self._certain, *(self._by_clocks(max_skew_ms) if max_skew_ms is not None else ())]
        self._before: list[dict[int, list[Place]]] = [{} for _ in self._files]
        for earlier, later in edges:
            self._before[later.file].setdefault(later.line, []).append(earlier)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """All events in the most probable order: that of the clocks, corrected by the certain pairs.

        Raises: RebalanceCheckError when the files contradict each other.
        """
        return tuple(one for one in self._lines(self._probable) if not isinstance(one, UnreadLine))

    def judge(self, invariants: Sequence[Invariant] | None = None, *, require_tested: bool = False) -> Judgement:
        """Judge the run in several orders that could have been: each file as early and as late as it can be.

        An invariant that is violated in all of them is violated. Where they differ, only clocks could tell, and it is
        undecided.

        Raises: RebalanceCheckError when the files contradict each other.
        """
        orders = dict.fromkeys([self._probable, *self._extremes()])
        lines = [map(self._on_these_clocks, self._lines(order)) for order in orders]
        judged = [
            judge_scanned(one, invariants, require_tested=require_tested, is_merged=self._is_merged) for one in lines
        ]
        verdicts: dict[Invariant, Verdict] = {}
        for invariant, verdict in judged[0].verdicts.items():
            verdicts[invariant] = self._common([verdict, *(one.verdicts[invariant] for one in judged[1:])])
        return replace(judged[0], verdicts=verdicts)

    def _on_these_clocks(self, one: Scanned) -> Scanned:
        """Timers are punctual on the one clock of a run; several files have several, unless no clock is off."""
        if isinstance(one, RunStarted) and self._skew != 0 and len(self._files) > 1:
            return replace(one, punctual=False)
        return one

    def _common(self, verdicts: list[Verdict]) -> Verdict:
        violated = [verdict for verdict in verdicts if isinstance(verdict, Violated)]
        if violated and len(violated) < len(verdicts):
            return Undecided(self._doubt(violated[0]))
        return next((verdict for verdict in verdicts if isinstance(verdict, Undecided)), verdicts[0])

    def _doubt(self, seen: Violated) -> str:
        events = seen.counterexample.events
        last = events[-1]
        other = next((e for e in reversed(events) if self._file_of(e) != self._file_of(last)), None)
        pair = f"{place_of(other)} and {place_of(last)}" if other else f"{place_of(last)} and those of other files"
        known = "no clock" if self._skew is None else f"no clock that may be {self._skew} ms off"
        return (
            f"{known} orders {pair}, and the protocol does not: in one order the claim is violated "
            f"({seen.counterexample.headline}), in another it is not; give --max-skew MS, a smaller one if there is one"
        )

    def _file_of(self, event: Event) -> int:
        return next((number for number, lines in enumerate(self._files) if event in lines), -1)

    # ---------------------------------------------------------------------------------------------- orders

    @cached_property
    def _probable(self) -> Order:
        offsets = self._offsets()
        return self._order(lambda file, line: (0, self._times[file][line] + offsets[file]))

    def _extremes(self) -> Iterator[Order]:
        offsets = self._offsets()
        yield self._order(lambda file, line: (0, self._times[file][line]))
        for chosen in range(len(self._files)):
            for rank in (-1, 1):
                yield self._order(
                    lambda file, line, chosen=chosen, rank=rank: (  # type: ignore[misc] # mypy infers no lambda defaults
                        rank if file == chosen else 0,
                        self._times[file][line] + offsets[file],
                    )
                )

    def _order(self, rank: Callable[[int, int], tuple[int, float]]) -> Order:
        """An order in which each file keeps its own, all that is certain holds, and the lowest rank comes first."""
        taken = [0] * len(self._files)
        order: list[int] = []
        for _ in range(sum(map(len, self._files))):
            ready = [
                file for file, line in enumerate(taken) if line < len(self._files[file]) and self._is_ready(file, taken)
            ]
            if not ready:
                raise RebalanceCheckError(self._contradiction(taken))
            file = min(ready, key=lambda file: (rank(file, taken[file]), file))
            order.append(file)
            taken[file] += 1
        return tuple(order)

    def _is_ready(self, file: int, taken: list[int]) -> bool:
        return all(taken[place.file] > place.line for place in self._before[file].get(taken[file], ()))

    def _lines(self, order: Order) -> Iterator[Scanned]:
        rest = [iter(lines) for lines in self._files]
        return (next(rest[file]) for file in order)

    def _contradiction(self, taken: list[int]) -> str:
        """Each file waits for another: names two of the lines."""
        waiting = next(file for file, line in enumerate(taken) if line < len(self._files[file]))
        cause = next(p for p in self._before[waiting][taken[waiting]] if taken[p.file] <= p.line)
        one, other = self._described(Place(waiting, taken[waiting])), self._described(cause)
        because = "" if self._skew is None else f", or the clocks differ by more than {self._skew} ms"
        return (
            f"the files contradict each other: {one} comes after {other}, which comes after it; they are not "
            f"of one run{because}: judge them apart with --separate, or raise --max-skew"
        )

    def _described(self, place: Place) -> str:
        one = self._files[place.file][place.line]
        named = (
            "a line that cannot be read" if isinstance(one, UnreadLine) else f"{type(one).__name__} ({place_of(one)})"
        )
        return f"{named} in {self.names[place.file]}"

    # ---------------------------------------------------------------------------------------------- clocks

    def _by_clocks(self, skew: int) -> Iterator[tuple[Place, Place]]:
        """Pairs of lines of two files, the earlier one first, whose times differ by more than the clocks may."""
        for one, lines in enumerate(self._times):
            by_time = sorted((time, line) for line, time in enumerate(lines))
            for other in range(len(self._files)):
                if other != one:
                    yield from self._after(one, by_time, other, skew)

    def _after(self, one: int, by_time: list[tuple[int, int]], other: int, skew: int) -> Iterator[tuple[Place, Place]]:
        known = -1
        for line, time in enumerate(self._times[other]):
            low = bisect_left(by_time, time - skew, key=itemgetter(0))
            if low and by_time[low - 1][1] > known:
                known = by_time[low - 1][1]
                yield Place(one, known), Place(other, line)

    def _offsets(self) -> list[float]:
        """The offset of the clock of each file with which causes come before effects; from file to file, best first."""
        least = self._least_offsets()
        offsets: dict[int, float] = {0: 0.0}
        while len(offsets) < len(self._files):
            pairs = [(a, b) for a in offsets for b in range(len(self._files)) if b not in offsets]
            known = [pair for pair in pairs if pair in least or pair[::-1] in least]
            a, b = min(known or pairs, key=lambda pair: (pair not in least or pair[::-1] not in least, pair))
            low, high = least.get((a, b), -_FAR), -least.get((b, a), -_FAR)
            both = low > -_FAR and high < _FAR
            offsets[b] = offsets[a] + ((low + high) / 2 if both else min(max(0.0, low), high))
        return [offsets[file] for file in range(len(self._files))]

    def _least_offsets(self) -> dict[tuple[int, int], float]:
        """By how much the clock of the second file must at least be set forward against that of the first."""
        least: dict[tuple[int, int], float] = {}
        for earlier, later in self._certain:
            gap = self._times[earlier.file][earlier.line] - self._times[later.file][later.line]
            key = (earlier.file, later.file)
            if not self._is_of_the_run(earlier) and not self._is_of_the_run(later):
                least[key] = max(gap, least.get(key, -_FAR))
        return least

    def _is_of_the_run(self, place: Place) -> bool:
        return isinstance(self._files[place.file][place.line], RunStarted | RunEnded)


def merge_histories(histories: Sequence[Sequence[Event]], max_skew_ms: int | None = None) -> MergedHistory:
    """One run that several observers recorded, each in the order of its own observation.

    ``max_skew_ms`` is by how much their clocks differ at most, in ms; None: they say nothing. The result has the events
    in one order and judges them in all: ``merge_histories([of_m0, of_m1, of_coordinator]).judge().check()``.

    Raises: RebalanceCheckError when the histories contradict each other as soon as they are ordered.
    """
    parts = [HistoryPart(f"history {number}", tuple(events)) for number, events in enumerate(histories, 1)]
    return MergedHistory(parts, max_skew_ms)


def _times(lines: Sequence[Scanned]) -> list[int]:
    """The clock at each line; a line that cannot be read has that of the line before it."""
    times: list[int] = []
    for one in lines:
        times.append((times[-1] if times else 0) if isinstance(one, UnreadLine) else one.time_ms)
    return times


def _with_one_frame(files: list[list[Scanned]]) -> list[list[Scanned]]:
    """The run starts and ends once, also where each file says so."""
    starts = [(file, one) for file, lines in enumerate(files) for one in lines if isinstance(one, RunStarted)]
    for file, start in starts[1:]:
        doubled = _number(start) == _number(starts[0][1])
        files[file] = [one if doubled else _earlier(one, start) for one in files[file] if one is not start]
    ends = [(file, one) for file, lines in enumerate(files) for one in lines if isinstance(one, RunEnded)]
    for file, extra in ends[:-1]:
        files[file] = [one for one in files[file] if one is not extra]
    if ends:
        file, end = ends[-1]
        attested = _attested(ends, files)
        frame = replace(end, pending=_all_pending([one for _, one in ends]), last=attested)
        files[file] = [frame if one is end else one for one in files[file]]
    return files


def _all_pending(ends: Sequence[RunEnded]) -> tuple[str, ...] | None:
    """All that was pending; nothing is claimed where no file claims it."""
    said = [end.pending for end in ends if end.pending is not None]
    return tuple(dict.fromkeys(subject for pending in said for subject in pending)) if said else None


def _attested(
    ends: Sequence[tuple[int, RunEnded]], files: Sequence[Sequence[Scanned]]
) -> tuple[tuple[str, str, int], ...]:
    """The ends that the files attest: those that a `RunEnded` names, and those of the sources of its own file."""
    last: dict[tuple[str, str], int] = {}
    for file, end in ends:
        own = [one for one in files[file] if not isinstance(one, UnreadLine | RunEnded)]
        last |= {(one.group, one.source): one.seq for one in own if one.seq >= 0}
        last |= {(group, source): number for group, source, number in end.last}
    return tuple(sorted((group, source, number) for (group, source), number in last.items()))


def _number(event: Event) -> tuple[str, str, int]:
    return event.group, event.source, event.seq


def _earlier(one: Scanned, dropped: Event) -> Scanned:
    """The event with the number that it has when an event of its source is left out."""
    if isinstance(one, UnreadLine) or (one.group, one.source) != (dropped.group, dropped.source):
        return one
    return replace(one, seq=one.seq - 1) if one.seq > dropped.seq >= 0 else one
