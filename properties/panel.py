"""The folds that judge one group: the order in which they take an event, and their verdicts in the end."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    HealEnded,
    RunEnded,
    RunSettled,
    RunStarted,
)
from rebalance_check.properties.completeness import Completeness, concerned_by
from rebalance_check.properties.kinds import (
    NOT_FOUND,
    Asked,
    Counts,
    Evidence,
    Fold,
    Handler,
    Invariant,
    Memories,
    Memory,
    Place,
    Waiting,
)
from rebalance_check.properties.listening import Listening, listening
from rebalance_check.properties.verdict import Exemptions, Held, Undecided, Untested, Verdict, Violated

NOT_ENDED: Final = (
    "the history has no RunEnded, so it may be cut off: judge the complete history, or leave this invariant out"
)
NOTHING_BETWEEN: Final = "the history holds nothing between the start and the end of the run: record the group's events"
OF_THE_RUN: Final = frozenset({RunStarted, RunSettled, HealEnded, RunEnded})
"""The events of the run itself. They say nothing about a group, so they alone put no invariant to the test."""

_APIS: Final = 64
"""For so many apis it is remembered who is asked: more than there are."""

_SUBJECTS: Final = frozenset({"member", "worker", "process", "node"})
"""The fields of events about one process. All others are of a coordinator, a topic, or the like."""


@dataclass(slots=True)
class _Hearing:
    """The handlers of the memories that take the events of one type, then the functions of folds that are asked about
    them, with the names of these, and the number of the events. ``of_api`` has the functions asked about an api."""

    handlers: list[Handler]
    asked: list[Asked]
    names: list[str]
    count: int
    of_api: dict[str, list[Asked]] | None

    def about(self, event: Event) -> list[Asked]:
        """The functions that are asked about this event: not those of other apis."""
        if self.of_api is None:
            return self.asked
        api: str = getattr(event, "api", "")
        if api in self.of_api:
            return self.of_api[api]
        found = [one for one in self.asked if one[3] is None or api in one[3]]
        if len(self.of_api) < _APIS:
            self.of_api[api] = found
        return found


@dataclass(slots=True)
class _Counted:
    """The history so far: the number of events of each type, how it ended, why an event of it may be missing, and the
    memories whose premise does not hold."""

    counts: Counts
    is_quiet: bool
    is_ended: bool
    doubt: str
    missing: list[Memory]


@dataclass(slots=True)
class Panel:
    """The folds that judge one group, and the faults that silenced some of them.

    ``group`` is its name, ``completeness`` says which part of the history is known to be complete, and ``place`` where
    the judge is. ``broken`` says why nothing can be concluded from here on; empty where it can. ``known`` are the
    event types to which the invariants listen.
    """

    invariants: tuple[Invariant, ...]
    group: str
    completeness: Completeness
    place: Place
    broken: str = ""
    folds: dict[str, Fold] = field(default_factory=dict)
    memories: Memories = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    hearings: dict[type[Event], _Hearing] = field(default_factory=dict)
    known: Listening = field(init=False)
    waiting: dict[Fold, frozenset[type[Event]]] = field(init=False)

    def __post_init__(self) -> None:
        self.known = listening(self.invariants)
        self.waiting = Waiting.among(self.memories).folds
        self.faults.update({name: _blame(fault) for name, fault in self.known.faults.items()})

    def _begin(self, event_type: type[Event]) -> _Hearing:
        """The first event of its type: those that have waited for it are started."""
        for kind in self.known.memories.get(event_type, ()):
            kind.among(self.memories)
        for invariant in self.known.waiting.get(event_type, ()):
            if invariant.name not in self.folds and invariant.name not in self.faults:
                self._start(invariant)
        return self._hear(event_type)

    def _start(self, invariant: Invariant) -> None:
        try:
            fold = self.folds[invariant.name] = invariant.start(self.memories, self.place)
            fold.need_as(self.known.prototypes[invariant.name])
        except Exception as fault:  # a checker's fault is a verdict, not a crash
            self.faults[invariant.name] = _blame(fault)

    def _hear(self, event_type: type[Event], count: int = 0) -> _Hearing:
        """From now on such an event goes to the memories, then to the folds that look at them."""
        known, asked, names = self.known, list[Asked](), list[str]()
        handlers = [
            self.memories[kind].handlers[event_type]
            for kind in known.memories.get(event_type, ())
            if not self.faults or self._is_used(kind)
        ]
        for name in [one.name for one in known.waiting.get(event_type, ()) if one.name not in self.faults]:
            found = self.folds[name].asked(event_type)
            asked += found
            names += [name] * len(found)
        of_api: dict[str, list[Asked]] | None = {} if any(one[3] is not None for one in asked) else None
        hearing = self.hearings[event_type] = _Hearing(handlers, asked, names, count, of_api)
        return hearing

    def _is_used(self, kind: type[Memory]) -> bool:
        """Whether a fold looks at the memory; one that only faulty folds share takes no event."""
        looks = self.known.looks
        return any(kind in looks[name] for name in looks.keys() - self.faults.keys())

    def observe(self, event: Event) -> None:
        """Hand the event to all that take it."""
        kind = type(event)
        hearing = self.hearings.get(kind) or self._begin(kind)
        hearing.count += 1
        for handler in hearing.handlers:
            try:
                handler(event)
            except Exception as fault:  # a checker's fault is a verdict, not a crash
                failed = {type(one) for one in self.memories.values() if handler in one.handlers.values()}
                self._silence([name for name, looks in self.known.looks.items() if failed & looks], event, fault)
        for fold, shown in tuple(self.waiting.items()):
            if kind in shown:
                try:
                    fold.show(event)
                except Exception as fault:  # likewise
                    self._silence([fold.invariant.name], event, fault)
        for ask, view, conclude, apis in hearing.asked if hearing.of_api is None else hearing.about(event):
            try:
                if (found := ask(event, view)) is not None:
                    conclude(found, event)
            except Exception as fault:  # likewise
                self._silence([hearing.names[hearing.asked.index((ask, view, conclude, apis))]], event, fault)

    def _silence(self, names: list[str], event: Event, fault: Exception) -> None:
        """The verdicts on these invariants are undecided, and they take no event any more."""
        for name in names:
            if name not in self.faults:
                self.faults[name] = f"{_blame(fault)} at event {event.seq} of {event.source}"
        for fold in [one for one in self.waiting if one.invariant.name in self.faults]:
            del self.waiting[fold]
        for event_type, hearing in self.hearings.items():
            self._hear(event_type, hearing.count)

    def found_at(self, invariant: Invariant) -> int:
        """The number of the first violation of this claim, by which those of several groups are put in order."""
        fold = self.folds.get(invariant.name)
        return NOT_FOUND if fold is None else fold.found_at

    def checked(self, invariant: Invariant) -> int:
        """How often this claim was put to the test so far."""
        fold = self.folds.get(invariant.name)
        counts = {event_type: hearing.count for event_type, hearing in self.hearings.items()}
        return 0 if fold is None else fold.checked(counts)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was observed of the group but the events of the run."""
        return self.hearings.keys() <= OF_THE_RUN

    def verdicts(self, ended: bool) -> dict[Invariant, Verdict]:
        """The verdict on each invariant; ``ended``: the run ended in an orderly way."""
        counts = {event_type: hearing.count for event_type, hearing in self.hearings.items()}
        doubt = self.completeness.doubt_about(self.group) or self.broken
        missing = [memory for memory in self.memories.values() if memory.missing]
        counted = _Counted(counts, self.is_quiet, ended, doubt, missing)
        return {invariant: self._verdict(invariant, counted) for invariant in self.invariants}

    def _verdict(self, invariant: Invariant, counted: _Counted) -> Verdict:
        fault, fold = self.faults.get(invariant.name, ""), self.folds.get(invariant.name)
        if fold is None:
            untested = self.known.untested.get(invariant.name)
            is_cut = invariant.needs_end and not counted.is_ended
            if untested is not None and not (is_cut or counted.is_quiet or fault or counted.doubt or counted.missing):
                return untested
            fold = self.known.prototypes.get(invariant.name)
        if fold is None:
            return Undecided(fault)
        try:
            verdict = fold.verdict()
        except Exception as found:  # a checker's fault is a verdict, not a crash
            return Undecided(fault or _blame(found))
        if isinstance(verdict, Violated):
            doubt = self._doubt_of(invariant, fold, verdict)
            return _uncertain(doubt, verdict) if doubt else _counted_violation(fold, verdict, counted.counts)
        looks = self.known.looks[invariant.name]
        doubt = counted.doubt or fault or next((one.missing for one in counted.missing if type(one) in looks), "")
        if doubt:
            return Undecided(doubt)
        return verdict if not isinstance(verdict, Held) else _tested(invariant, fold, counted)

    def _doubt_of(self, invariant: Invariant, fold: Fold, verdict: Violated) -> str:
        """Why the violation may be none: an event that excuses it may be missing, or stand in the wrong place."""
        if not self.completeness.holes and self.completeness.has_one_log:
            return ""
        concerned = concerned_by(verdict.counterexample.events)
        match invariant.evidence:
            case Evidence.PRESENCE:
                return self.completeness.disorder(self.group, fold.found_at, concerned)
            case Evidence.CONCERNED:
                lacks = self._lacks_observer(invariant)
                return self.completeness.gap(self.group, fold.found_at, concerned, lacks_observer=lacks)
            case Evidence.ABSENCE:
                return self.completeness.gap(self.group, fold.found_at, None)

    def _lacks_observer(self, invariant: Invariant) -> bool:
        """Whether no event was seen by which one that is no member could excuse: all its record may be missing."""
        kinds = [kind for kind in invariant.exempted_by if _SUBJECTS.isdisjoint(one.name for one in fields(kind))]
        return bool(kinds) and self.hearings.keys().isdisjoint(kinds)

    def release(self) -> None:
        """No further event comes: folds and memories, which refer to themselves by their handlers, are let go of.

        They are freed at once then, and the garbage collector need not look for them.
        """
        self.hearings.clear()
        self.waiting.clear()
        for fold in self.folds.values():
            fold.release()
        for memory in self.memories.values():
            memory.handlers = {}


def _tested(invariant: Invariant, fold: Fold, counted: _Counted) -> Verdict:
    """The verdict on an invariant that held, by how often the history could have broken it."""
    counts = counted.counts
    if counted.is_quiet:
        return Untested(NOTHING_BETWEEN)
    if invariant.needs_end and not counted.is_ended:
        lacking = fold.misses(counts if _is_unframed(fold, counts) else {**counts, RunEnded: 1})
        return Untested(lacking) if lacking else Undecided(NOT_ENDED)
    lacking = fold.lacks(counts)
    excused = _excused_by(fold)
    return _untested(lacking, excused) if lacking else _held(fold.checked(counts), excused)


def _counted_violation(fold: Fold, seen: Violated, counts: Counts) -> Violated:
    return Violated(seen.counterexample, seen.count, fold.checked(counts), _excused_by(fold), fold.found_at)


def _excused_by(fold: Fold) -> Exemptions:
    return tuple(sorted(fold.excused.items()))


@lru_cache(maxsize=1_024)
def _untested(reason: str, excused: Exemptions) -> Untested:
    """Many claims of many histories say the same, and share it."""
    return Untested(reason, excused)


@lru_cache(maxsize=1_024)
def _held(checked: int, excused: Exemptions) -> Held:
    """Likewise."""
    return Held(checked, excused)


def _is_unframed(fold: Fold, counts: Counts) -> bool:
    """Whether the invariant is about the run's own report alone, and the history is a recording without a run."""
    return OF_THE_RUN.issuperset(fold.kinds) and not any(counts.get(kind) for kind in OF_THE_RUN)


def _uncertain(fault: str, seen: Violated) -> Undecided:
    return Undecided(f"{fault}; but for that the invariant looks violated ({seen.counterexample.headline})")


def _blame(fault: Exception) -> str:
    return f"the checker itself failed ({type(fault).__name__}: {fault}); please report it with this history"
