"""The changes of a history that `falsify` tries, one at a time, each with its values from the history itself.

A field takes a value that another event has there, or less of its own; an event happens earlier, or at another member,
too; an event is missing, or all that its subject does later; an event, and all that follows it, come later by a timeout
of the history. Circumstances stay: faults, starts, configurations, the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.event_checks import MalformedEvent
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted
from rebalance_check.properties.seen_from_outside import events_named
from rebalance_check.properties.verdict import place_of

NEAR: Final = 24
"""So many events before an event are left out, or hurry it."""

VALUES: Final = 4
"""So many values are tried per field: those that were seen last before the event, then those after it."""

FRAME: Final = frozenset({RunStarted, RunEnded})

CIRCUMSTANCES: Final = FRAME | events_named("""
    ApplicationBusy ConfigStoreStarted ConnectionBroken ConnectionClosed ConnectionOpened CoordinatorConfigured
    CoordinatorElected CoordinatorMoved IncarnationEnded IncarnationStarted LogTailLost MemberCrashed MemberPaused
    MemberResumed MemberStarted NodeChanged PluginDrawn PluginFailed ProcessEnded ProcessSignalled ProcessStarted
    StatusStoreStarted StatusStoreStarting SubscriptionChanged TopicsDescribed WorkerConfigured""")
"""Events that are no deed of the subject that is judged: a history without one of them is another case."""

TIMEOUTS: Final = ("rebalance_timeout_ms", "session_timeout_ms")
"""The fields of a history that have timeouts of members."""

_KEPT: Final = frozenset({"group", "source", "seq", "time_ms"})


@dataclass(frozen=True, slots=True)
class Edit:
    """A change, in words: ``target`` is replaced by ``instead``, ``gone`` are missing, and ``target`` and all events
    behind it come ``later_ms`` later."""

    text: str
    target: Event
    instead: tuple[Event, ...]
    gone: tuple[Event, ...] = ()
    later_ms: int = 0

    def applied(self, history: Iterable[Event]) -> list[Event]:
        """The changed history, numbered anew."""
        gone = {id(event) for event in self.gone}
        kept = (each for each in history if id(each) not in gone)
        changed = (one for each in kept for one in (self.instead if each is self.target else (each,)))
        return numbered(self._postponed(changed) if self.later_ms else changed)

    def _postponed(self, history: Iterable[Event]) -> Iterator[Event]:
        is_later = False
        for event in history:
            is_later = is_later or event is self.target
            yield replace(event, time_ms=event.time_ms + self.later_ms) if is_later and event.time_ms else event


def numbered(history: Iterable[Event]) -> list[Event]:
    """The events with numbers without a gap, and with the end that they attest, if any."""
    last: dict[tuple[str, str], int] = {}
    found: list[Event] = []
    for event in history:
        key = (event.group, event.source)
        number = last.get(key, -1) + 1
        if isinstance(event, RunEnded) and event.last:
            attested = tuple((*who, end) for who, end in sorted(last.items()))
            found.append(replace(event, seq=number, last=attested))
        else:
            found.append(event if event.seq == number else replace(event, seq=number))
        last[key] = number
    return found


class Site:
    """An event of a history, with its neighbours: the events of its group before and after it, the nearest first."""

    def __init__(self, history: Sequence[Event], event: Event) -> None:
        at = next(number for number, one in enumerate(history) if one is event)
        self.event = event
        self.before = [one for one in reversed(history[:at]) if one.group == event.group]
        self.after = [one for one in history[at + 1 :] if one.group == event.group]

    @cached_property
    def own_before(self) -> list[Event]:
        """The events of the same subject before it: of the same member or connection, else of the same source."""
        return [one for one in self.before if _subject(one) == _subject(self.event)]

    @cached_property
    def own_after(self) -> list[Event]:
        """The events of the same subject after it."""
        return [one for one in self.after if _subject(one) == _subject(self.event)]


Sites: TypeAlias = Sequence[Site]


def edits(history: Sequence[Event], events: Iterable[Event]) -> Iterator[Edit]:
    """The changes at ``events`` of the history, and near them: one of each kind after the other."""
    sites = [Site(history, event) for event in events]
    kinds: list[Callable[[Sites], Iterator[Edit]]] = [
        _with_other_values, _with_other_parts, _elsewhere, _missing, _hurried, _silenced, _postponed,
    ]  # fmt: skip
    sources = [kind(sites) for kind in kinds]
    while sources:
        found = [(source, next(source, None)) for source in sources]
        yield from (edit for _, edit in found if edit is not None)
        sources = [source for source, edit in found if edit is not None]


def _with_other_values(sites: Sites) -> Iterator[Edit]:
    """A field takes a value that another event has there: first the nearest value of each field, then the next."""
    values = [(site.event, name, list(_values(site, name))) for site in sites for name in _changeable(site.event)]
    for rank in range(VALUES):
        for event, name, known in values:
            for value in known[rank : rank + 1]:
                yield from _changed(event, name, value)


def _values(site: Site, name: str) -> Iterator[Any]:
    own = getattr(site.event, name)
    found: list[Any] = [own]
    for other in (*site.before, *site.after):
        value = getattr(other, name, own)
        if len(found) <= VALUES and type(value) is type(own) and value not in found:
            found.append(value)
    return iter(found[1:])


def _with_other_parts(sites: Sites) -> Iterator[Edit]:
    """A list has one part less, or a key of it has the value of another, or that and the other one its own."""
    for site in sites:
        for name in _changeable(site.event):
            value = getattr(site.event, name)
            for other in _parts(value) if isinstance(value, tuple) else ():
                yield from _changed(site.event, name, other)


def _parts(value: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    are_pairs = all(isinstance(part, tuple) and len(part) == 2 for part in value)
    for at, part in enumerate(value[:VALUES]):
        yield (*value[:at], *value[at + 1 :])
        for other in value if are_pairs else ():
            if other[1] != part[1]:
                yield (*value[:at], (part[0], other[1]), *value[at + 1 :])
                swapped = {part[0]: other[1], other[0]: part[1]}
                yield tuple((key, swapped.get(key, own)) for key, own in value)


def _hurried(sites: Sites) -> Iterator[Edit]:
    """An event happens earlier, just after an earlier one of the same subject."""
    for near in range(NEAR):
        for site in sites:
            for other in site.own_before[near : near + 1]:
                early = replace(site.event, time_ms=other.time_ms)
                yield Edit(f"{named(site.event)} just after {named(other)}", other, (other, early), (site.event,))


def _elsewhere(sites: Sites) -> Iterator[Edit]:
    """The same happens at another member, too."""
    for site in sites:
        if not getattr(site.event, "member", ""):
            continue
        seen = {getattr(one, "member", "") for one in (*site.before, *site.after)}
        for member in sorted(seen - {"", site.event.source}):
            again = _replaced(site.event, {"member": member, "source": member})
            if again is not None:
                yield Edit(f"{named(site.event)} at {member}, too", site.event, (site.event, again))


def _missing(sites: Sites) -> Iterator[Edit]:
    """An event is missing: one of the sites, or one before it."""
    for near in range(NEAR):
        for site in sites:
            for event in [site.event, *site.before][near : near + 1]:
                if type(event) not in CIRCUMSTANCES:
                    yield Edit(f"the absence of {named(event)}", event, ())


def _silenced(sites: Sites) -> Iterator[Edit]:
    """After an event, all later events of its subject are missing, except circumstances."""
    for site in sites:
        gone = tuple(event for event in site.own_after if type(event) not in CIRCUMSTANCES)
        if gone:
            yield Edit(f"the silence of its subject after {named(site.event)}", site.event, (site.event,), gone)


def _postponed(sites: Sites) -> Iterator[Edit]:
    """An event, and all behind it, come later than a timeout of the history allows."""
    known = {getattr(one, name, 0) for site in sites[:1] for one in (*site.before, *site.after) for name in TIMEOUTS}
    for timeout_ms in sorted(known - {0}):
        for site in sites:
            text = f"{named(site.event)}, and all that follows, {timeout_ms + 1} ms later"
            yield Edit(text, site.event, (site.event,), later_ms=timeout_ms + 1)


def _changeable(event: Event) -> list[str]:
    """The fields that say something of the event; the member, whose record its source is, last."""
    names = [field.name for field in fields(event) if field.name not in _KEPT]
    return sorted(names, key=lambda name: name == "member")


def _changed(event: Event, name: str, value: Any) -> Iterator[Edit]:
    changed = _replaced(event, {name: value})
    if changed is not None:
        text = f"{named(event)} with {name} {_shown(value)} instead of {_shown(getattr(event, name))}"
        yield Edit(text, event, (changed,))


def _replaced(event: Event, values: Mapping[str, Any]) -> Event | None:
    """The event with other values; None where they do not belong into it."""
    try:
        made: Event = replace(event, **values)
    except MalformedEvent:
        return None
    return made


def _subject(event: Event) -> object:
    return getattr(event, "member", "") or getattr(event, "connection", None) or event.source


def named(event: Event) -> str:
    """The place of an event and its type: ``event 3 of m0 (MemberJoined)``."""
    return f"{place_of(event)} ({type(event).__name__})"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return repr(str(value)) if isinstance(value, str) and not value else str(value)
