"""Damage to the text of a history: one line is lost, one comes twice, one file is missing.

A `Mutilation` is drawn by a seed. It says which events of the history are damaged, so that a bench can tell whether a
counterexample needs them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.history import encode


@dataclass(frozen=True, slots=True)
class Mutilation:
    """``lines`` are those left of the history, ``at`` is the number of the first line concerned (from 1).

    ``damaged`` are the places of the events that are gone, moved or doubled, from 0, the first of each source at least.
    """

    kind: str
    at: int
    damaged: tuple[int, ...]
    lines: tuple[bytes, ...]


Damage = Callable[[Random, Sequence[Event], list[bytes]], tuple[list[int], list[bytes]]]
"""From the events and their lines, the damaged places and the lines that are left."""


def _dropped(random: Random, _events: Sequence[Event], lines: list[bytes]) -> tuple[list[int], list[bytes]]:
    at = random.randrange(len(lines))
    return [at], lines[:at] + lines[at + 1 :]


def _garbled(random: Random, _events: Sequence[Event], lines: list[bytes]) -> tuple[list[int], list[bytes]]:
    """Half a line, random bytes, or an event without a name."""
    at = random.randrange(len(lines))
    half = lines[at][: random.randrange(1, len(lines[at]) - 1)] + b"\n"
    noise = random.randbytes(random.randrange(1, 80)).replace(b"\n", b"") + b"\n"
    nameless = json.dumps({**json.loads(lines[at]), "event": None}).encode() + b"\n"
    return [at], [*lines[:at], random.choice((half, noise, nameless)), *lines[at + 1 :]]


def _copied_over(random: Random, _events: Sequence[Event], lines: list[bytes]) -> tuple[list[int], list[bytes]]:
    at, other = random.sample(range(len(lines)), 2)
    return [at], [*lines[:at], lines[other], *lines[at + 1 :]]


def _source_cut(random: Random, events: Sequence[Event], lines: list[bytes]) -> tuple[list[int], list[bytes]]:
    """Not the source of the run: it writes RunEnded last, so where it is cut, the file is."""
    of_source = _one_source(random, events, but=events[-1].source)
    gone = set(of_source[random.randrange(1, len(of_source)) if len(of_source) > 1 else 0 :])
    return [min(gone)], _without(lines, gone)


def _source_missing(random: Random, events: Sequence[Event], lines: list[bytes]) -> tuple[list[int], list[bytes]]:
    gone = set(_one_source(random, events))
    return [min(gone)], _without(lines, gone)


def _file_cut(random: Random, _events: Sequence[Event], lines: list[bytes]) -> tuple[list[int], list[bytes]]:
    at = random.randrange(1, len(lines))
    return list(range(at, len(lines))), lines[:at]


def _swapped(random: Random, _events: Sequence[Event], lines: list[bytes]) -> tuple[list[int], list[bytes]]:
    at = random.randrange(len(lines) - 1)
    return [at, at + 1], [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


def _doubled(random: Random, _events: Sequence[Event], lines: list[bytes]) -> tuple[list[int], list[bytes]]:
    at = random.randrange(len(lines))
    return [at], [*lines[: at + 1], *lines[at:]]


def _one_source(random: Random, events: Sequence[Event], but: str = "") -> list[int]:
    """The places of the events of one source, of another than ``but`` where there is one."""
    sources = {event.source for event in events}
    chosen = random.choice(sorted(sources - {but} or sources))
    return [place for place, event in enumerate(events) if event.source == chosen]


def _without(lines: list[bytes], gone: set[int]) -> list[bytes]:
    return [line for place, line in enumerate(lines) if place not in gone]


DAMAGES: Final[dict[str, Damage]] = {
    "dropped": _dropped,
    "garbled": _garbled,
    "copied over": _copied_over,
    "source cut": _source_cut,
    "source missing": _source_missing,
    "file cut": _file_cut,
    "swapped": _swapped,
    "doubled": _doubled,
}
"""Each kind of damage by its name."""


def mutilated(random: Random, history: Sequence[Event]) -> Mutilation:
    """The history with one damage, both chosen by ``random``; it has two events at least."""
    kind = random.choice(list(DAMAGES))
    lines = [encode(event) + b"\n" for event in history]
    damaged, left = DAMAGES[kind](random, history, lines)
    return Mutilation(kind, min(damaged) + 1, tuple(damaged), tuple(left))
