"""Loops that go on until a run ends: the same requests and replies of a member, the same changes of the group."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
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


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of ``who``: ``turn`` are the events of the first turn that is known, ``times`` is how
    often it came in all, ``words`` say the turn."""

    who: str
    words: str
    turn: tuple[Event, ...]
    times: int

    @property
    def since(self) -> Event:
        """Where it begins."""
        return self.turn[0]

    @property
    def sentence(self) -> str:
        """The loop as a reason; its event is ``since``."""
        return f"from {STEP} on {self.who} repeats this until the run ends, {self.times:,} times: {self.words}."


def loop_of_member(member: LastOfMember, events: Sequence[Event]) -> Loop | None:
    """The loop that a member is in when ``events`` end."""
    steps = [event for event in member.exchanges if not _is_upkeep(event)]
    return _loop(member.name, steps, _exchange, _exchanges_in_words, events)


def loop_of_group(events: Sequence[Event]) -> Loop | None:
    """The loop that the group is in at its coordinator when ``events`` end."""
    steps = [event for event in events if isinstance(event, GenerationStarted | MemberAdded | MemberRemoved)]
    return _loop("the group", steps, _change, lambda turn: ", ".join(map(_change, turn)), events)


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
    first, last = (next(place for place, one in enumerate(events) if one is turns[end]) for end in (0, -1))
    if len(events) - last > QUIET_TURNS * ((last - first) // found.times + 1):
        return None
    begin = next((place for place in range(found.length) if not isinstance(turns[place], RequestAnswered)), 0)
    turn = tuple(turns[begin : begin + found.length])
    return Loop(who, in_words(turn), turn, found.times)


class Repetition(NamedTuple):
    """A segment of ``length`` tokens comes ``times`` in a row, whole, and the sequence ends with it."""

    length: int
    times: int

    @property
    def tokens(self) -> int:
        """How many tokens all its turns have."""
        return self.length * self.times


def repetition(tokens: Sequence[Hashable], times: int = TIMES) -> Repetition | None:
    """The shortest segment that comes ``times`` in a row or more at the end of ``tokens``; None where there is none."""
    for length in range(1, len(tokens) // times + 1):
        found = _equal_at_the_end(tokens, length) // length + 1
        if found >= times:
            return Repetition(length, found)
    return None


def _equal_at_the_end(tokens: Sequence[Hashable], length: int) -> int:
    """How many tokens at the end equal those ``length`` places before them."""
    equal = 0
    while equal + length < len(tokens) and tokens[-1 - equal] == tokens[-1 - equal - length]:
        equal += 1
    return equal


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
    """Words that come several times in a row, once with their number."""
    for word, run in groupby(words):
        times = len(list(run))
        yield f"{word} ({times} times)" if times > 1 else word


def _change(event: Event) -> str:
    match event:
        case GenerationStarted():
            return f"a generation of {len(event.members)} members begins"
        case MemberRemoved():
            return f"a member id is removed ({event.reason})"
        case _:
            return "a member id is added"
