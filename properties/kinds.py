"""Invariants: named claims with sources and premises, each with a fold that reads events.

To add one, subclass `Fold`, hand its handlers to `Fold.__init__`, call `Fold.violated` where the claim breaks, and put
an `Invariant` value next to it. A fold sees the events of one group, in order of observation, and only the types it
listens to; it never raises to report a violation. If it does raise, the fault is the checker's, and the judge says
*undecided*.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self, TypeAlias, cast

from rebalance_check.model.vocabulary.events import EVENT_TYPES, Event
from rebalance_check.properties.features import Feature, Lacking
from rebalance_check.properties.verdict import (
    Because,
    Counterexample,
    Held,
    Undecided,
    Verdict,
    Violated,
    Violation,
    violation_named,
)

Handler: TypeAlias = Callable[[Any], None]
"""Takes an event of the type it is registered for."""

Asked: TypeAlias = tuple[Callable[[Any, Any], Any], Any, Callable[[Any, Any], None], frozenset[str] | None]
"""A function of an event and a view, which returns what it finds, or None; that view; one that takes what was found,
and the event; and the apis of requests and replies about which it is asked (None: all)."""

NOT_FOUND: Final = -1
"""The place of a violation that was not found."""


class Place:
    """Where in the history a judge is: ``index`` counts its lines from 0; all folds of a judge share one.

    ``has_one_clock``: the run says that its sources share one.
    """

    __slots__ = ("has_one_clock", "index")

    def __init__(self) -> None:
        self.index = NOT_FOUND
        self.has_one_clock = False


Counts: TypeAlias = dict[type[Event], int]
"""How many events of each type a history holds, without the types that it does not hold."""

Way: TypeAlias = tuple[frozenset[type[Event]], ...]
"""Sets of event types: a history must hold one event at least of each set so that the invariant can break."""

_HELD: Final = Held()
"""The verdict of each fold that found nothing; the judge adds how often the invariant was put to the test."""

_ORDER: Final = {kind: place for place, kind in enumerate(EVENT_TYPES.values())}


class Evidence(StrEnum):
    """The basis of an accusation, and whose records could hold the event that excuses it.

    ``PRESENCE``: on events that contradict each other, so that no lost line excuses it. ``CONCERNED``: on the absence
    of an event that a member concerned, or an observer that is no member, would have recorded. ``ABSENCE``: on
    that of an event that any source could have recorded.
    """

    PRESENCE = "presence"
    CONCERNED = "concerned"
    ABSENCE = "absence"


class Kind(StrEnum):
    """Safety: never broken at any step. Liveness: reached before the run ended."""

    SAFETY = "safety"
    LIVENESS = "liveness"


class Memory:
    """The memory that several folds about one group share.

    The judge keeps one of each class per group, and lets it take an event before the folds that look at it;
    ``handlers`` as of a `Fold`. ``missing`` says which premise of all those folds does not hold, empty while it does.
    ``uses`` are the classes of the memories that it looks at, which it is made with and which take an event before it;
    ``built_on`` are those memories.
    """

    uses: ClassVar[tuple[type[Memory], ...]] = ()

    def __init__(self, handlers: Mapping[type[Event], Handler] = MappingProxyType({})) -> None:
        self.handlers = handlers
        self.missing = ""
        self.built_on: tuple[Memory, ...] = ()

    @classmethod
    def among(cls, memories: Memories) -> Self:
        """The one of this class among ``memories``, which is begun when it is asked for first."""
        found = memories.get(cls)
        if found is None:
            make, used = cast("Callable[..., Memory]", cls), tuple([one.among(memories) for one in cls.uses])
            found = memories[cls] = make(*used)
            found.built_on = used
        assert isinstance(found, cls)
        return found


class Waiting(Memory):
    """The ``folds`` of a group that wait for something, with the types of the events that show them the time."""

    def __init__(self) -> None:
        super().__init__()
        self.folds: dict[Fold, frozenset[type[Event]]] = {}


Memories: TypeAlias = dict[type[Memory], Memory]
"""The memories that the folds about one group share, in the order in which they take an event."""


class Fold:
    """The running memory of one invariant about one group.

    ``invariant`` is the claim it speaks for, ``handlers`` maps each event type it listens to (``kinds``) to the method
    that takes it, ``memories`` are those that it shares with others. `verdict` may be asked at any time; it speaks
    about the history so far and changes nothing: a claim about the last state is judged when it takes `RunEnded`.
    ``found_at`` is the place of the first violation (`NOT_FOUND` while there is none). ``compared`` counts how often
    the claim was put to the test, in a fold that says so; else each event counts at which it can break: of the types
    ``breaks_at``, or, where that is empty, of all that it listens to. ``excused`` counts the cases in which an
    exemption applied, by its name. ``needs`` are further events without which nothing breaks it: of each set the
    history must hold one event at least.
    """

    compared: int | None = None
    breaks_at: Collection[type[Event]] = ()
    needs: tuple[tuple[type[Event], ...], ...] = ()

    def __init__(self, invariant: Invariant, handlers: Mapping[type[Event], Handler]) -> None:
        self.invariant = invariant
        self.handlers = handlers
        self.count = 0
        self.found_at = NOT_FOUND
        self.place = Place()
        self.excused: dict[str, int] = {}
        self._found: Counterexample | None = None
        self._doubt = ""
        self._needed: Way | None = None

    @property
    def kinds(self) -> Collection[type[Event]]:
        """The event types that it listens to."""
        return self.handlers.keys()

    def show(self, event: Event) -> None:
        """Look at the time, before it is asked about the event: called only while it is `Waiting`."""

    def asked(self, kind: type[Event]) -> Sequence[Asked]:
        """The functions that a judge asks about each event of this type."""
        handler = self.handlers[kind]
        return [(lambda event, _view: handler(event), None, lambda *_: None, None)]

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Those that it shares with others, each behind those that it is built on."""
        return ()

    def share(self, memories: Memories) -> None:
        """Remember together with the other folds that were given these ``memories``; called before the first event."""

    def need_as(self, other: Fold) -> None:
        """Take over the needs that ``other`` worked out: they are the same for all folds of an invariant."""
        self._needed = other._needed

    def release(self) -> None:
        """Take no more events; a fold that refers to itself by its handlers alone is freed at once then."""
        self.handlers = {}

    def contradiction(self, headline: str, *reasons: tuple[str, Event | None]) -> None:
        """As `violated`: each reason is a sentence and its event; those without an event are only text."""
        known = list(dict.fromkeys(event for _, event in reasons if event is not None))
        self.violated(headline, [Because(text, event) for text, event in reasons], known)

    def violated(
        self, headline: str, because: list[Because], events: list[Event], repeats: Sequence[Event] = ()
    ) -> None:
        """Note that the claim broke; the first time becomes the counterexample, all are counted.

        ``because`` ends on the contradiction; ``events`` are those concerned, the last one being where it broke;
        ``repeats`` are one turn of a loop that goes on until the end.
        """
        self.count += 1
        if self._found is None:
            self.found_at = self.place.index
            self._found = Counterexample(
                invariant=self.invariant.name,
                headline=headline,
                claim=self.invariant.claim,
                because=tuple(because),
                events=tuple(events),
                repeats=tuple(repeats),
                group=events[-1].group,
            )

    def withdraw(self, event: Event) -> None:
        """Take back that the claim broke at this event: the one that excuses it stands behind it."""
        if self._found is not None and self._found.events[-1] is event:
            self.count -= 1
            self._found = None

    def excuse(self, exemption: str) -> None:
        """Note that an exemption, by its name, applied to a case that would break the claim otherwise."""
        self.excused[exemption] = self.excused.get(exemption, 0) + 1

    def doubt(self, reason: str) -> None:
        """Note that a premise of this claim does not hold in this history: the verdict is undecided, not held."""
        self._doubt = self._doubt or reason

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways in which a history can put the claim to the test; one of them is enough."""
        return (self._way(),)

    def _way(self) -> Way:
        """The needs of the invariant, worked out when they are asked for first: folds may add to ``needs`` until
        then."""
        if self._needed is None:
            self._needed = (frozenset(self.breaks_at or self.kinds), *map(frozenset, self.needs))
        return self._needed

    @property
    def breaking(self) -> frozenset[type[Event]]:
        """The types of the events at which the claim can break."""
        return self._way()[0]

    def checked(self, counts: Counts) -> int:
        """How often the claim was put to the test in a history with so many events of each type."""
        if self.compared is not None:
            return self.compared
        return sum(counts.get(kind, 0) for kind in self.breaking)

    def lacks(self, counts: Counts) -> str:
        """Why nothing could break the claim in a history with so many events of each type; empty where it could."""
        missing = self.misses(counts)
        if missing or self.checked(counts):
            return missing
        if self.excused:
            return f"each case is excused: {exemptions(self.excused.items())}"
        return f"no {one_of(self.breaking)} of the history put the claim to the test"

    def misses(self, counts: Counts) -> str:
        """The events that a history with so many events of each type needs and lacks, in words; empty where it has
        all."""
        for needed in self._way():
            if counts.keys().isdisjoint(needed):
                return _holds_no(needed)
        return ""

    def verdict(self) -> Verdict:
        """The verdict so far: a violation stands; otherwise a doubt; otherwise held."""
        if self._found is not None:
            return Violated(self._found, self.count)
        return Undecided(self._doubt) if self._doubt else _HELD


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Invariant:
    """A named claim about histories.

    ``name`` reads as the claim (``no_double_ownership``) and is how it is selected; ``family`` groups related claims;
    ``claim`` is one sentence; ``source`` the KIP or Kafka class it is taken from; ``premises`` conditions on a history
    without which the invariant says nothing; ``violation`` the exception class; ``fold`` starts an empty memory for one
    group. ``needs_end``: without an orderly end of the run nothing can be concluded, except that it is violated.
    ``relies_on``: a correct coordinator that lacks one of these features would be accused. ``exempted_by``: these
    events may excuse an apparent violation, so a subject is accused without cause where they happen and are not
    recorded. ``evidence`` is the basis of an accusation. ``breaks`` is the smallest history that breaks the
    invariant, ``holds`` one that holds, and ``excuses`` one in which an exemption applies, each behind the ``opening``
    that they share, as calls of event classes, one a line. They leave out fields that do not matter.
    """

    name: str
    family: str
    claim: str
    source: str
    fold: Callable[[Invariant], Fold]
    violation: type[Violation] = Violation
    premises: tuple[str, ...] = ()
    kind: Kind = Kind.SAFETY
    needs_end: bool = False
    relies_on: frozenset[Feature] = frozenset()
    exempted_by: tuple[type[Event], ...] = ()
    evidence: Evidence = Evidence.ABSENCE
    opening: str = ""
    breaks: str = ""
    holds: str = ""
    excuses: str = ""

    def __post_init__(self) -> None:
        """Each invariant raises an exception class of its own."""
        if self.violation is Violation:
            object.__setattr__(self, "violation", violation_named(self.name, self.claim))

    def start(self, memories: Memories | None = None, place: Place | None = None) -> Fold:
        """A new fold for one group; ``memories`` are those that the folds of that group share, ``place`` is where
        their judge is."""
        fold = self.fold(self)
        fold.place = fold.place if place is None else place
        fold.share({} if memories is None else memories)
        return fold

    @property
    def needs(self) -> tuple[Way, ...]:
        """The ways in which a history can put the claim to the test, from its fold; one of them is enough."""
        return self.fold(self).ways

    def may_judge(self, lacking: Lacking) -> bool:
        """Whether the invariant can be tested with these features and events lacking, and accuses no correct
        coordinator."""
        if lacking == Lacking():
            return True
        if self.relies_on & lacking.features or lacking.events.intersection(self.exempted_by):
            return False
        return any(all(needed - lacking.absent for needed in way) for way in self.needs)

    def __repr__(self) -> str:
        return f"<Invariant {self.name}>"


def declared(module: str) -> tuple[Invariant, ...]:
    """The invariants of the module of this name so far, in the order in which they stand there and in reports."""
    return tuple(value for value in vars(sys.modules[module]).values() if isinstance(value, Invariant))


def listeners(who: Iterable[Memory | Fold]) -> dict[type[Event], tuple[Handler, ...]]:
    """The handlers of each type of event, in the order of ``who``."""
    hearing: dict[type[Event], list[Handler]] = {}
    for one in who:
        for event_type, handler in one.handlers.items():
            hearing.setdefault(event_type, []).append(handler)
    return {event_type: tuple(handlers) for event_type, handlers in hearing.items()}


def exemptions(excused: Iterable[tuple[str, int]]) -> str:
    """How often each exemption applied: ``was paused (3), left the group (1)``."""
    return ", ".join(f"{name} ({times})" for name, times in sorted(excused))


def one_of(kinds: Iterable[type[Event]]) -> str:
    """The names of event types, in the order of the vocabulary: ``MemberJoined, TaskStarted or RunEnded``."""
    return _one_of(frozenset(kinds))


@lru_cache(maxsize=1_024)
def _holds_no(kinds: frozenset[type[Event]]) -> str:
    """Put into words once, as many claims of many histories lack the same."""
    return f"the history holds no {one_of(kinds)}"


@lru_cache(maxsize=1_024)
def _one_of(kinds: frozenset[type[Event]]) -> str:
    """Worked out once: each claim that a history has nothing for says the same each time."""
    names = [kind.__name__ for kind in in_order(kinds)]
    return " or ".join([*([", ".join(names[:-1])] if names[:-1] else []), *names[-1:]])


def in_order(kinds: Iterable[type[Event]]) -> list[type[Event]]:
    """Event types in the order of the vocabulary; those that it does not hold come last, by name."""
    return sorted(kinds, key=lambda kind: (_ORDER.get(kind, len(_ORDER)), kind.__name__))
