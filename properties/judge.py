"""The judge: events in, one verdict per invariant out. Premises first, violations as data, faults of its own undecided.

Each group of a history is judged by folds of its own. `judge` reads a whole history; `Judge` takes one event at a time,
for simulators and state machines that want to know at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Final

from rebalance_check.model.vocabulary.events import Event, HealEnded, RunEnded, RunSettled, RunStarted
from rebalance_check.properties.catalogue import CATALOGUE, Claims, choose
from rebalance_check.properties.history import Scanned, scan_history
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import NOT_FOUND, Fold, Handler, Invariant, Memories, Memory, listeners
from rebalance_check.properties.malformed import MalformedHistory, UnreadLine
from rebalance_check.properties.numbering import Numbering
from rebalance_check.properties.verdict import Held, Undecided, Untested, Verdict, Violated, worst

NOT_ENDED: Final = (
    "the history has no RunEnded, so it may be cut off: judge the complete history, or leave this claim out"
)
EMPTY: Final = "the history holds no event: check that it is the right file and that recording was switched on"
NOTHING_BETWEEN: Final = "the history holds nothing between the start and the end of the run: record what happens"
OF_THE_RUN: Final = frozenset({RunStarted, RunSettled, HealEnded, RunEnded})
"""The events of the run itself. They say nothing about a group, so they alone put no claim to the test."""
NAMED_LINES: Final = 10
"""So many lines that cannot be read are named; the others are counted."""


@dataclass(slots=True)
class _Hearing:
    """Who takes the events of one type, memories first, and how many there were."""

    handlers: tuple[Handler, ...] = ()
    count: int = 0


@dataclass(slots=True)
class _Panel:
    """The folds that judge one group, and what silenced some of them."""

    invariants: Sequence[Invariant]
    folds: dict[str, Fold] = field(default_factory=dict)
    memories: Memories = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    hearings: dict[type[Event], _Hearing] = field(default_factory=dict)
    broken: str = ""
    unread: str = ""
    certain: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for invariant in self.invariants:
            try:
                self.folds[invariant.name] = invariant.start(self.memories)
            except Exception as fault:  # a checker's fault is a verdict, not a crash
                self.faults[invariant.name] = _blame(fault)
        self._index()

    def _index(self) -> None:
        """Who hears what: memories before the folds that look at them."""
        folds = [fold for name, fold in self.folds.items() if name not in self.faults]
        used = {id(memory) for fold in folds for memory in fold.memories}
        memories = [memory for memory in self.memories.values() if id(memory) in used]
        hearing = listeners((*memories, *folds))
        for event_type in self.hearings.keys() | hearing.keys():
            self._hearing(event_type).handlers = hearing.get(event_type, ())

    def _hearing(self, event_type: type[Event]) -> _Hearing:
        return self.hearings.setdefault(event_type, _Hearing())

    def observe(self, event: Event) -> None:
        kind = type(event)
        hearing = self.hearings.get(kind) or self._hearing(kind)
        hearing.count += 1
        for handler in hearing.handlers:
            try:
                handler(event)
            except Exception as fault:  # a checker's fault is a verdict, not a crash
                self._silence(handler, event, fault)

    def _silence(self, handler: Handler, event: Event, fault: Exception) -> None:
        for name, fold in self.folds.items():
            hearing: tuple[Fold | Memory, ...] = (fold, *fold.memories)
            if name not in self.faults and any(handler in one.handlers.values() for one in hearing):
                self.faults[name] = f"{_blame(fault)} at event {event.seq} of {event.source}"
        self._index()

    def found_at(self, invariant: Invariant) -> int:
        """The number of the first violation of this claim, by which those of several groups are put in order."""
        fold = self.folds.get(invariant.name)
        return NOT_FOUND if fold is None else fold.found_at

    def miss(self, fault: str) -> None:
        """An event of this group may be missing from here on; what is violated so far stands."""
        if not self.unread:
            said = self.verdicts(ended=False)
            self.certain = frozenset(i.name for i, verdict in said.items() if isinstance(verdict, Violated))
            self.unread = fault

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was observed of the group but the events of the run."""
        return not any(hearing.count for kind, hearing in self.hearings.items() if kind not in OF_THE_RUN)

    def verdicts(self, ended: bool) -> dict[Invariant, Verdict]:
        """The verdict on each invariant; ``ended``: the run ended in an orderly way."""
        counts = {event_type: hearing.count for event_type, hearing in self.hearings.items()}
        return {invariant: self._verdict(invariant, ended, counts) for invariant in self.invariants}

    def _verdict(self, invariant: Invariant, ended: bool, counts: Mapping[type[Event], int]) -> Verdict:
        fault, fold = self.faults.get(invariant.name, ""), self.folds.get(invariant.name)
        if fold is None:
            return Undecided(fault)
        try:
            verdict = fold.verdict()
        except Exception as found:  # a checker's fault is a verdict, not a crash
            return Undecided(fault or _blame(found))
        if isinstance(verdict, Violated):
            return verdict if not self.unread or invariant.name in self.certain else _uncertain(self.unread, verdict)
        if self.unread:
            return Undecided(self.unread)
        if fault:
            return Undecided(fault)
        if self.broken:
            return Undecided(self.broken)
        if not isinstance(verdict, Held):
            return verdict
        if self.is_quiet:
            return Untested(NOTHING_BETWEEN)
        if invariant.needs_end and not ended:
            lacking = fold.lacks(counts if _is_unframed(fold, counts) else {**counts, RunEnded: 1})
            return Untested(lacking) if lacking else Undecided(NOT_ENDED)
        lacking = fold.lacks(counts)
        return Untested(lacking) if lacking else Held(fold.checked(counts))


class Judge:
    """Judges a history as it happens: `observe` each event, ask for a `judgement` at any time.

    ``invariants`` defaults to the whole catalogue; ``require_tested`` is passed on to each `Judgement`.
    """

    def __init__(self, invariants: Sequence[Invariant] | None = None, *, require_tested: bool = False) -> None:
        self.invariants = tuple(CATALOGUE if invariants is None else invariants)
        self.require_tested = require_tested
        self._panels: dict[str, _Panel] = {}
        self._numbering = Numbering()
        self._run: list[Event] = []
        self._broken = ""
        self._unread: list[UnreadLine] = []
        self._unread_count = 0
        self._missed = ""
        self._events = 0
        self._ended = False

    def observe(self, event: Event) -> None:
        """Take the next event of the history."""
        self._events += 1
        expected = self._numbering.expected(event)
        if event.seq != expected:
            self._hole(event, expected)
        if isinstance(event, (RunStarted, RunEnded)):
            self._observe_run(event)
        else:
            panel = self._panels.get(event.group) or self._open(event.group)
            if not panel.broken:
                panel.observe(event)

    def miss(self, line: UnreadLine) -> None:
        """Take note of a line that cannot be read where the next event should be.

        A violation before it stands. After it, an event of its group may be missing: what seems violated is undecided
        and named, and nothing is held.
        """
        self._unread_count += 1
        self._unread += [line] if len(self._unread) < NAMED_LINES else []
        if line.is_foreign:
            return
        if line.group is None:
            self._missed = self._missed or line.fault
            concerned = list(self._panels.values())
        else:
            concerned = [self._panels.get(line.group) or self._open(line.group)]
        for panel in concerned:
            panel.miss(line.fault)

    @property
    def found(self) -> int:
        """How many claims look violated so far, counted for each group: cheaper than a `judgement`, after any event."""
        return sum(panel.found_at(one) != NOT_FOUND for panel in self._panels.values() for one in self.invariants)

    def judgement(self) -> Judgement:
        """The verdict on all that was observed so far."""
        panels = sorted(self._panels.values(), key=lambda panel: panel.is_quiet)  # what happened comes first
        says = [(panel, panel.verdicts(self._ended)) for panel in panels]
        verdicts: dict[Invariant, Verdict] = {}
        for invariant in self.invariants:
            said = [(panel_says[invariant], panel.found_at(invariant)) for panel, panel_says in says]
            said.sort(key=lambda pair: pair[1])  # so that the first counterexample of all groups stays the first
            verdicts[invariant] = (
                worst([verdict for verdict, _ in said]) if self._events else Undecided(self._missed or EMPTY)
            )
        unread = tuple(self._unread)
        return Judgement(verdicts, self._events, self._ended, self.require_tested, unread, self._unread_count)

    def _open(self, group: str) -> _Panel:
        panel = self._panels[group] = _Panel(self.invariants, broken=self._broken, unread=self._missed)
        for event in self._run:
            panel.observe(event)
        return panel

    def _observe_run(self, event: RunStarted | RunEnded) -> None:
        """The run's own events concern every group; a second start means two histories in one."""
        if self._run and isinstance(event, RunStarted):
            self._break_all("the history holds a second RunStarted: judge each run on its own")
        self._run.append(event)
        self._ended = isinstance(event, RunEnded)
        if not self._panels:
            self._open(event.group)
            return
        for panel in self._panels.values():
            if not panel.broken:
                panel.observe(event)

    def _hole(self, event: Event, expected: int) -> None:
        """From a hole on nothing is concluded: what is missing may be the very event that makes the rest legal."""
        reason = (
            f"events of {event.source or 'an unnamed source'} are missing or out of order: expected number {expected}, "
            f"got {event.seq}; record again, or judge the part before it"
        )
        if isinstance(event, RunStarted | RunEnded):
            self._break_all(reason)
        else:
            panel = self._panels.get(event.group) or self._open(event.group)
            panel.broken = panel.broken or reason

    def _break_all(self, reason: str) -> None:
        self._broken = self._broken or reason
        for panel in self._panels.values():
            panel.broken = panel.broken or reason


def _is_unframed(fold: Fold, counts: Mapping[type[Event], int]) -> bool:
    """Whether the claim is about what a run reports of itself alone, and the history is a recording without a run."""
    return fold.handlers.keys() <= OF_THE_RUN and not any(counts.get(kind) for kind in OF_THE_RUN)


def _uncertain(fault: str, seen: Violated) -> Undecided:
    return Undecided(f"{fault}; without that line the claim looks violated ({seen.counterexample.headline})")


def judge(
    history: Iterable[Event] | str | PathLike[str],
    invariants: Claims | None = None,
    *,
    exclude: Claims = (),
    without: Iterable[str] = (),
    require_tested: bool = False,
) -> Judgement:
    """Judge a history, in one pass and constant memory per member and partition.

    ``history`` is one run in order of observation, or the path of the file that holds it. ``invariants`` and
    ``exclude`` are invariants, their names, or families, one or several; without ``invariants`` the whole catalogue
    is meant. ``without`` names what the coordinator lacks (``leader``, ``generations``, ``sync-group``) and events that
    happen and are not recorded: claims that rely on them are left out. Only what is chosen so is judged and counts.
    ``require_tested``: a claim that nothing in the history put to the test leaves the judgement undecided.

    What the history says never makes it raise: what cannot be decided is `Undecided`, with the reason, and lines of the
    file that are no events are in `Judgement.unread`.

    Raises: RebalanceCheckError for a name that is none, and for a file that cannot be opened;
    MalformedHistory when none of its lines is an event.
    """
    chosen = choose(invariants, exclude=exclude, without=without)
    if isinstance(history, str | PathLike):
        return judge_scanned(scan_history(Path(history)), chosen, require_tested=require_tested)
    judging = Judge(chosen, require_tested=require_tested)
    observe = judging.observe
    for event in history:
        observe(event)
    return judging.judgement()


def judge_scanned(
    scanned: Iterable[Scanned], invariants: Sequence[Invariant] | None = None, *, require_tested: bool = False
) -> Judgement:
    """Judge what `scan_history` or `scan_lines` reads.

    Raises: MalformedHistory when none of the lines is an event, and what reading them raises.
    """
    judging = Judge(invariants, require_tested=require_tested)
    for one in scanned:
        if isinstance(one, UnreadLine):
            judging.miss(one)
        else:
            judging.observe(one)
    judgement = judging.judgement()
    if not judgement.events and judgement.unread and not judgement.unread[0].is_cut:
        raise MalformedHistory(judgement.unread[0].fault)
    return judgement


def _blame(fault: Exception) -> str:
    return f"the checker itself failed ({type(fault).__name__}: {fault}); please report it with this history"
