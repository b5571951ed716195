"""The smaller runs next to a run that is written out: fewer members, shorter pauses, lesser values of choices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from rebalance_check.impl.runtime.choices import read, written
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.model.vocabulary.actions import Action, ActionKind, parse_action

PACES_MS: Final = (1, 1_000, 2_000, 3_000, 5_000, 10_000, 15_000, 20_000, 30_000)
"""Pauses worth trying: around them lie the time-outs of simulated groups."""

_MEMBER: Final = re.compile(r"\bm(\d+)\b")


def fewer_members(options: SimulationOptions) -> Iterator[SimulationOptions]:
    """The run without one of its members, or with another one in its place; those behind it move up."""
    if options.members == 1 or options.actions is None:
        return
    for gone in reversed(range(options.members)):
        fewer = replace(
            options,
            members=options.members - 1,
            actions=_without(options.actions, gone),
            choices=None if options.choices is None else _without(options.choices, gone),
        )
        yield fewer
        if len(fewer.actions or ()) < len(options.actions):
            yield from (
                replace(fewer, actions=_without(_given_to(options.actions, gone, other), gone))
                for other in range(options.members)
                if other != gone
            )


def _given_to(words: tuple[str, ...], gone: int, other: int) -> tuple[str, ...]:
    return tuple(_MEMBER.sub(lambda found: f"m{other if int(found[1]) == gone else found[1]}", word) for word in words)


def _without(words: tuple[str, ...], gone: int) -> tuple[str, ...]:
    """The words that are not about the member ``gone``, those about later ones renamed."""

    def renamed(found: re.Match[str]) -> str:
        return f"m{int(found[1]) - (int(found[1]) > gone)}"

    return tuple(_MEMBER.sub(renamed, word) for word in words if f"m{gone}" not in _names(word))


def _names(word: str) -> list[str]:
    return [found[0] for found in _MEMBER.finditer(word)]


def fewer_partitions(options: SimulationOptions) -> Iterator[SimulationOptions]:
    """The run with one partition less: a task, or a key."""
    if options.partitions > 1:
        yield replace(options, partitions=options.partitions - 1)


def fewer_faults(options: SimulationOptions) -> Iterator[SimulationOptions]:
    """The run without any kind of fault, and without each of them."""
    if options.faults:
        yield replace(options, faults=())
    for kind in options.faults:
        yield replace(options, faults=tuple(one for one in options.faults if one is not kind))


def quieter(options: SimulationOptions) -> Iterator[SimulationOptions]:
    """The run without any choice, with another pause at one place: often all that the choices did was to take time."""
    actions = options.actions or ()
    if options.choices:
        for place, action in enumerate(map(parse_action, actions)):
            if action.kind is ActionKind.ADVANCE_CLOCK:
                for choice in PACES_MS:
                    paced = (*actions[:place], str(action._replace(choice=choice)), *actions[place + 1 :])
                    yield replace(options, actions=paced, choices=())


def merged(options: SimulationOptions) -> Iterator[SimulationOptions]:
    """The run with two pauses that follow each other, or lie around one action, put together: earlier, or later."""
    actions = [parse_action(action) for action in options.actions or ()]
    pauses = [place for place, action in enumerate(actions) if action.kind is ActionKind.ADVANCE_CLOCK]
    for first, second in pairwise(pauses):
        both = Action(ActionKind.ADVANCE_CLOCK, 0, actions[first].choice + actions[second].choice)
        for at, gone in ((first, second), (second, first)):
            changed = [*actions[:at], both, *actions[at + 1 :]]
            yield replace(options, actions=tuple(map(str, changed[:gone] + changed[gone + 1 :])))


def shorter(options: SimulationOptions, place: int) -> Iterator[SimulationOptions]:
    """The run with a shorter pause at this place of its actions."""
    actions = options.actions or ()
    if place >= len(actions):
        return
    action = parse_action(actions[place])
    if action.kind is ActionKind.ADVANCE_CLOCK:
        for choice in _lesser(action.choice):
            changed = str(action._replace(choice=choice))
            yield replace(options, actions=(*actions[:place], changed, *actions[place + 1 :]))


def less(options: SimulationOptions, place: int) -> Iterator[SimulationOptions]:
    """The run with a lesser value of the choice at this place."""
    ((address, value),) = read((options.choices or ())[place : place + 1]).items()
    for lesser in () if value is True else (0,) if isinstance(value, float) and value else _lesser(int(value)):
        changed = written({address: lesser})
        choices = options.choices or ()
        yield replace(options, choices=(*choices[:place], *changed, *choices[place + 1 :]))


def _lesser(number: int) -> Iterator[int]:
    """Smaller numbers, boldest first: powers of ten, then the number with one digit, then half of it."""
    powers = [10**power for power in range(6)]
    rounded = [number // power * power for power in reversed(powers) if number // power]
    yield from dict.fromkeys(one for one in (*powers, *rounded[:1], number // 2) if 0 < one < number)
