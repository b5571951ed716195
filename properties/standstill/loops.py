"""What goes round until a run ends: the same requests and replies of a member, the same changes of the group."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    MemberAdded,
    MemberRemoved,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.standstill.members import UPKEEP, LastOfMember
from rebalance_check.properties.standstill.repetition import repetition
from rebalance_check.properties.verdict import STEP

QUIET_TURNS: Final = 2
"""A loop is over when more events followed than so many of its turns took."""


@dataclass(frozen=True, slots=True)
class Loop:
    """What ``who`` does again and again: ``turn`` are the events of the first turn that is known, ``times`` is how
    often it came in all, ``what`` the turn in words."""

    who: str
    what: str
    turn: tuple[Event, ...]
    times: int

    @property
    def since(self) -> Event:
        """Where it begins."""
        return self.turn[0]

    @property
    def sentence(self) -> str:
        """The loop as a reason; its event is ``since``."""
        return f"from {STEP} on {self.who} repeats this until the run ends, {self.times:,} times: {self.what}."


def loop_of_member(member: LastOfMember, events: Sequence[Event]) -> Loop | None:
    """The loop that a member is in when ``events`` end."""
    steps = [event for event in member.exchanges if not _is_upkeep(event)]
    return _loop(member.name, steps, _exchange, _exchanges_in_words, events)


def loop_of_group(events: Sequence[Event]) -> Loop | None:
    """The loop that the group is in at its coordinator when ``events`` end."""
    steps = [event for event in events if isinstance(event, GenerationStarted | MemberAdded | MemberRemoved)]
    return _loop("the group", steps, _change, _changes_in_words, events)


def _loop(
    who: str,
    steps: Sequence[Event],
    token: Callable[[Event], Hashable],
    in_words: Callable[[Sequence[Event]], str],
    events: Sequence[Event],
) -> Loop | None:
    found = repetition([token(step) for step in steps])
    if found is None:
        return None
    turns = steps[len(steps) - found.tokens :]
    first, last = _place(turns[0], events), _place(turns[-1], events)
    if len(events) - last > QUIET_TURNS * ((last - first) // found.times + 1):
        return None
    begin = next((place for place in range(found.length) if not isinstance(turns[place], RequestAnswered)), 0)
    turn = tuple(turns[begin : begin + found.length])
    return Loop(who, in_words(turn), turn, found.times)


def _place(event: Event, events: Sequence[Event]) -> int:
    return next(place for place, one in enumerate(events) if one is event)


def _is_upkeep(event: RequestSent | RequestAnswered) -> bool:
    """Whether a member does this while it is at rest; a reply that makes it do something is more."""
    return event.api in UPKEEP and (isinstance(event, RequestSent) or event.error in {"NONE", None})


def _exchange(event: Event) -> Hashable:
    assert isinstance(event, RequestSent | RequestAnswered)
    return (event.api, event.error) if isinstance(event, RequestAnswered) else (event.api,)


def _exchanges_in_words(turn: Sequence[Event]) -> str:
    """``JoinGroup is answered UNKNOWN_MEMBER_ID, SyncGroup is sent``: a request with its reply, if it has one."""
    answered = {event.api for event in turn if isinstance(event, RequestAnswered)}
    words = []
    for event in turn:
        if isinstance(event, RequestAnswered):
            words.append(f"{event.api} is {f'answered {event.error}' if event.error else 'given up without a reply'}")
        elif isinstance(event, RequestSent) and event.api not in answered:
            words.append(f"{event.api} is sent")
    return ", ".join(_counted(words))


def _counted(words: Sequence[str]) -> Iterator[str]:
    """What comes several times in a row, once with its number."""
    for word, run in groupby(words):
        times = len(list(run))
        yield f"{word} ({times} times)" if times > 1 else word


def _change(event: Event) -> Hashable:
    match event:
        case GenerationStarted():
            return "generation", len(event.members)
        case MemberRemoved():
            return "removed", event.reason
        case _:
            return ("added",)


def _changes_in_words(turn: Sequence[Event]) -> str:
    """``a member id is removed (session expired), a generation of 2 members begins``."""
    words = []
    for event in turn:
        match event:
            case GenerationStarted():
                words.append(f"a generation of {len(event.members)} members begins")
            case MemberRemoved():
                words.append(f"a member id is removed ({event.reason})")
            case _:
                words.append("a member id is added")
    return ", ".join(words)
