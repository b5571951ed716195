"""Loops until a run ends: the same requests and replies of a member, the same changes of the group."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    MemberAdded,
    MemberRemoved,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.standstill.members import UPKEEP, LastOfMember
from rebalance_check.properties.verdict import STEP

TIMES: Final = 3
"""So often a segment must come in a row before it counts as a loop: twice happens in any healthy group."""

QUIET_TURNS: Final = 2
"""A loop is over when more events followed than so many of its turns took."""


class Repetition(NamedTuple):
    """A segment of ``length`` tokens comes ``times`` in a row, whole, and the sequence ends with it."""

    length: int
    times: int


def repetition(tokens: Sequence[Hashable], times: int = TIMES) -> Repetition | None:
    """The shortest segment that comes ``times`` in a row or more at the end of ``tokens``; None where there is none."""
    for length in range(1, len(tokens) // times + 1):
        equal = 0
        while equal + length < len(tokens) and tokens[-1 - equal] == tokens[-1 - equal - length]:
            equal += 1
        if equal // length + 1 >= times:
            return Repetition(length, equal // length + 1)
    return None


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop of ``who``: ``turn`` are the events of the first turn that is known, ``times`` is how
    often it came in all."""

    who: str
    turn: tuple[Event, ...]
    times: int

    @property
    def sentence(self) -> str:
        """The loop as a reason; its event is the first of the turn."""
        what = ", ".join(_counted(_in_words(self.turn)))
        return f"from {STEP} on {self.who} repeats this until the run ends, {self.times:,} times: {what}."


def loop_of_member(member: LastOfMember, events: Sequence[Event]) -> Loop | None:
    """The loop that a member is in when ``events`` end."""
    return _loop(member.name, [event for event in member.exchanges if not _is_upkeep(event)], events)


def loop_of_group(events: Sequence[Event]) -> Loop | None:
    """The loop that the group is in at its coordinator when ``events`` end."""
    steps = [event for event in events if isinstance(event, GenerationStarted | MemberAdded | MemberRemoved)]
    return _loop("the group", steps, events)


def _loop(who: str, steps: Sequence[Event], events: Sequence[Event]) -> Loop | None:
    found = repetition([_said(step) for step in steps])
    if found is None:
        return None
    turns = steps[len(steps) - found.length * found.times :]
    first, last = (next(at for at, one in enumerate(events) if one is event) for event in (turns[0], turns[-1]))
    if len(events) - last > QUIET_TURNS * ((last - first) // found.times + 1):
        return None
    begin = next((place for place in range(found.length) if not isinstance(turns[place], RequestAnswered)), 0)
    return Loop(who, tuple(turns[begin : begin + found.length]), found.times)


def _is_upkeep(event: RequestSent | RequestAnswered) -> bool:
    """Whether a member does this while it is at rest; a reply that makes it do something is more."""
    return event.api in UPKEEP and (isinstance(event, RequestSent) or event.error in {"NONE", None})


def _said(event: Event) -> str:
    """The event in words, the same for events that are alike."""
    match event:
        case RequestSent():
            return f"{event.api} is sent"
        case RequestAnswered():
            return f"{event.api} is {f'answered {event.error}' if event.error else 'given up without a reply'}"
        case GenerationStarted():
            return f"a generation of {len(event.members)} members begins"
        case MemberRemoved():
            return f"a member id is removed ({event.reason})"
    return "a member id is added"


def _in_words(turn: Sequence[Event]) -> list[str]:
    """A request with its reply, if it has one: ``JoinGroup is answered UNKNOWN_MEMBER_ID, SyncGroup is sent``."""
    answered = {event.api for event in turn if isinstance(event, RequestAnswered)}
    return [_said(event) for event in turn if not (isinstance(event, RequestSent) and event.api in answered)]


def _counted(words: Sequence[str]) -> Iterator[str]:
    """Items that come several times in a row, once with their number."""
    for word, run in groupby(words):
        times = len(list(run))
        yield f"{word} ({times} times)" if times > 1 else word
