"""The parts that all engines share: the findings that a rule returns, and the fold that turns them into a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.kinds import Fold, Handler, Invariant, Memories, Memory
from rebalance_check.properties.verdict import Because

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
        kinds = dict.fromkeys(kind for extracts, _ in parts for kind in extracts)
        handlers = {
            kind: self._handler([(extracts[kind], take) for extracts, take in parts if kind in extracts])
            for kind in kinds
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self.needs = tuple(needs)
        self.views: tuple[Any, ...] = ()
        self._views = tuple(views)

    def _handler(self, parts: Sequence[tuple[Callable[..., Any], Callable[[Any, Event], None]]]) -> Handler:
        def take(event: Event) -> None:
            for extract, act in parts:
                found = extract(event, *self.views)
                if found is not None:
                    act(found, event)

        return take

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
            if found.events:
                because = [Because(text, event) for text, event in found.reasons]
                self.violated(found.headline, because, list(found.events), found.repeats)
            else:
                self.contradiction(found.headline, *found.reasons)
        elif isinstance(found, Excused):
            self.excuse(found.exemption)
        else:
            for each in found:
                self.conclude(each)


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
