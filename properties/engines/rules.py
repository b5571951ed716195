"""The parts that all engines share: the findings that a rule returns, and the fold that turns them into a verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.kinds import Asked, Fold, Invariant, Memories, Memory
from rebalance_check.properties.verdict import Because
from rebalance_check.properties.views.own_record import record_of

Reason: TypeAlias = tuple[str, Event | None]
"""A sentence of a counterexample and the event that gives it; ``{step}`` stands for the place of that event."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The invariant is broken: ``headline`` is one line, ``reasons`` end on the contradiction.

    ``events`` are those concerned where they are not those of the reasons alone, ``repeats`` the ones among them that
    repeat until the end.
    """

    headline: str
    reasons: tuple[Reason, ...]
    events: tuple[Event, ...] = ()
    repeats: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Excused:
    """The case looks broken, or cannot be judged, and an exemption applies: its name, in plain words."""

    exemption: str


class Checked(Enum):
    """The case could have broken the invariant, and did not."""

    CHECKED = "checked"


CHECKED: Final = Checked.CHECKED

Finding: TypeAlias = Broken | Excused | Checked
Findings: TypeAlias = Finding | Iterable[Finding] | None
"""One finding, several, or none where a rule has nothing to say."""

Rule: TypeAlias = Callable[..., Findings]
"""Takes an event and the views of its engine."""

Rules: TypeAlias = Mapping[type[Event], Rule]

Views: TypeAlias = Sequence[type[Memory]]
"""Memories that several invariants share; each is brought up to date before a rule sees the event."""

Extracts: TypeAlias = Mapping[type[Event], Callable[..., Any]]
"""By type of event, a function of the event and the views: the keys, facts or findings that it holds; None for none."""


class OfApis:
    """An extract that has nothing to say about requests and replies of other apis: it is not asked about them."""

    def __init__(self, extract: Callable[..., Any], *apis: str) -> None:
        self.extract, self.apis = extract, frozenset(apis)

    def __call__(self, event: Any, *views: Any) -> Any:
        """As the extract itself."""
        return self.extract(event, *views) if event.api in self.apis else None


Part: TypeAlias = tuple[Extracts, Callable[[Any, Event], None]]
"""Extracts of an engine, and the method of its fold that takes the result, where there is one, and the event."""

Needs: TypeAlias = Sequence[tuple[type[Event], ...]]
"""Further events without which nothing breaks an invariant: of each tuple the history must hold one at least."""


def broken(headline: str, *reasons: Reason) -> Broken:
    """The finding that a case breaks the invariant."""
    return Broken(headline, reasons)


class RuleFold(Fold):
    """A fold whose cases are counted one by one: how many were checked, and how many an exemption excused.

    ``parts`` look at an event in their order. ``views`` are the classes of the memories that their extracts are given,
    in that order.
    """

    def __init__(self, invariant: Invariant, parts: Sequence[Part], views: Views, needs: Needs = ()) -> None:
        super().__init__(invariant, {})
        self.compared = 0
        self.needs = tuple(needs)
        self.views: tuple[Any, ...] = ()
        self._views, self._parts = views, parts

    @property
    def kinds(self) -> Collection[type[Event]]:
        """The event types of all its parts."""
        return dict.fromkeys(kind for extracts, _ in self._parts for kind in extracts)

    def asked(self, kind: type[Event]) -> Sequence[Asked]:
        """Its extracts themselves: most of what a judge does is to ask those that have nothing to say."""
        return [self._asked(extracts[kind], act) for extracts, act in self._parts if kind in extracts]

    def _asked(self, extract: Callable[..., Any], act: Callable[[Any, Event], None]) -> Asked:
        views, apis = self.views, None
        if isinstance(extract, OfApis):
            apis, extract = extract.apis, extract.extract
        return (extract, views[0], act, apis) if len(views) == 1 else (_with_all(extract), views, act, apis)

    def release(self) -> None:
        """Refer to no method of its own."""
        self._parts = ()

    def share(self, memories: Memories) -> None:
        """Look at the same views as the other invariants of the group."""
        self.views = tuple([view.among(memories) for view in self._views])

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The views, each behind those that it is built on."""
        return tuple(flattened(self.views))

    def conclude(self, found: Findings, _event: Event | None = None) -> None:
        """Count a finding of a rule; the first that is broken becomes the counterexample."""
        if found is CHECKED:
            self.compared = (self.compared or 0) + 1
        elif found is None:
            return
        elif isinstance(found, Broken):
            self.compared = (self.compared or 0) + 1
            reasons = [(text, record_of(event)) for text, event in found.reasons]
            if found.events:
                self.violated(found.headline, [Because(*each) for each in reasons], list(found.events), found.repeats)
            else:
                self.contradiction(found.headline, *reasons)
        elif isinstance(found, Excused):
            self.excuse(found.exemption)
        else:
            for each in found:
                self.conclude(each)


def _with_all(extract: Callable[..., Any]) -> Callable[[Event, Sequence[Any]], Any]:
    return lambda event, views: extract(event, *views)


def flattened(views: Iterable[Memory]) -> list[Memory]:
    """The views, each behind those that it is built on, each once."""
    found: dict[int, Memory] = {}
    for view in views:
        for one in (*flattened(view.built_on), view):
            found.setdefault(id(one), one)
    return list(found.values())


def listed(found: Any) -> Iterable[Any]:
    """The results of an extract that returns one, or a list of them."""
    return found if isinstance(found, list) else (found,)
