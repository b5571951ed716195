"""The judge: events in, one verdict per invariant out. Premises first, violations as data, faults of its own undecided.

Each group of a history is judged by folds of its own. `judge` reads a whole history; `Judge` takes one event at a time,
for simulators and state machines that want to know at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of, worst_exit_code
from rebalance_check.properties.kinds import NOT_FOUND, Fold, Handler, Invariant, Kind, Memories, Memory, listeners
from rebalance_check.properties.malformed import UnreadLine
from rebalance_check.properties.verdict import (
    Counterexample,
    Held,
    Outcome,
    Undecided,
    Verdict,
    Violated,
    worst,
    worst_outcome,
)

NOT_ENDED: Final = (
    "the history has no RunEnded, so it may be cut off: judge the complete history, or leave this claim out"
)
EMPTY: Final = "the history holds no event: check that it is the right file and that recording was switched on"
NAMED_LINES: Final = 10
"""So many lines that cannot be read are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says about a history.

    ``verdicts`` maps each invariant that was asked for, in that order, to the worst of its verdicts over the groups of
    the history; ``events`` is the number of events read; ``ended`` says whether the run ended in an orderly way.
    ``unread`` are the first lines that could not be read, ``unread_count`` counts all of them.
    """

    verdicts: Mapping[Invariant, Verdict]
    events: int
    ended: bool
    unread: tuple[UnreadLine, ...] = ()
    unread_count: int = 0

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of all."""
        return worst_outcome(verdict.outcome for verdict in self.verdicts.values())

    @property
    def exit_code(self) -> ExitCode:
        """0 held, 10 a safety invariant is violated, 11 only a liveness invariant is, 12 undecided, 2 bad lines."""
        bad_input = [ExitCode.USAGE for line in self.unread if not line.is_cut]
        return worst_exit_code([*bad_input, *(exit_code_of(v.outcome, i.kind) for i, v in self.verdicts.items())])

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        """The first counterexample of each violated invariant, safety before liveness."""
        found = [(i, v) for i, v in self.verdicts.items() if isinstance(v, Violated)]
        return tuple(v.counterexample for i, v in sorted(found, key=lambda pair: pair[0].kind is Kind.LIVENESS))

    def verdict(self, name: str) -> Verdict:
        """The verdict on the invariant called ``name``.

        Raises: KeyError when it was not asked for.
        """
        for invariant, verdict in self.verdicts.items():
            if invariant.name == name:
                return verdict
        raise KeyError(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the invariants that were asked for, in order."""
        return tuple(i.name for i in self.verdicts)

    def check(self) -> None:
        """Raise the `Violation` of the first violated invariant (safety before liveness), if there is one."""
        for found in self.counterexamples:
            raise next(i for i in self.verdicts if i.name == found.invariant).violation(found)


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
            self.certain = frozenset(i.name for i in self.invariants if isinstance(self.verdict(i, False), Violated))
            self.unread = fault

    def verdict(self, invariant: Invariant, ended: bool) -> Verdict:
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
        if isinstance(verdict, Held):
            if invariant.needs_end and not ended:
                return Undecided(NOT_ENDED)
            if fold.compared is not None:
                return Held(fold.compared)
            return Held(sum(self.hearings[event_type].count for event_type in fold.handlers.keys() - fold.bookkeeping))
        return verdict


class Judge:
    """Judges a history as it happens: `observe` each event, ask for a `judgement` at any time.

    ``invariants`` defaults to the whole catalogue.
    """

    def __init__(self, invariants: Sequence[Invariant] | None = None) -> None:
        self.invariants = tuple(CATALOGUE if invariants is None else invariants)
        self._panels: dict[str, _Panel] = {}
        self._next: dict[tuple[str, str], int] = {}
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
        key = (event.group, event.source)
        expected = self._next.get(key, 0)
        if event.seq != expected and not (event.seq == -1 and expected == 0):
            self._hole(event, expected)
        if event.seq >= 0:
            self._next[key] = event.seq + 1
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

    def judgement(self) -> Judgement:
        """The verdict on all that was observed so far."""
        panels = list(self._panels.values())
        verdicts: dict[Invariant, Verdict] = {}
        for invariant in self.invariants:
            said = [(panel.verdict(invariant, self._ended), panel.found_at(invariant)) for panel in panels]
            said.sort(key=lambda pair: pair[1])  # so that the first counterexample of all groups stays the first
            verdicts[invariant] = (
                worst([verdict for verdict, _ in said]) if self._events else Undecided(self._missed or EMPTY)
            )
        return Judgement(verdicts, self._events, self._ended, tuple(self._unread), self._unread_count)

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


def _uncertain(fault: str, seen: Violated) -> Undecided:
    return Undecided(f"{fault}; without that line the claim looks violated ({seen.counterexample.headline})")


def judge(history: Iterable[Event], invariants: Sequence[Invariant] | None = None) -> Judgement:
    """Judge a history, in one pass and constant memory per member and partition.

    ``history`` is one run in order of observation; ``invariants`` defaults to the whole catalogue. Never raises on
    account of the history's content: what cannot be decided is `Undecided`, with the reason.
    """
    judging = Judge(invariants)
    observe = judging.observe
    for event in history:
        observe(event)
    return judging.judgement()


def _blame(fault: Exception) -> str:
    return f"the checker itself failed ({type(fault).__name__}: {fault}); please report it with this history"
