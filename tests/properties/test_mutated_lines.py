"""Lines of a history with one value replaced by another: every file gets a verdict or a clear refusal, and soon."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import Any, Final

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.properties.between import between
from rebalance_check.properties.history import encode, scan_lines
from rebalance_check.properties.judge import judge_scanned
from rebalance_check.properties.malformed import MalformedHistory, UnreadLine
from rebalance_check.report.runs import explained

NUMBERS: Final[tuple[Any, ...]] = (-1, 0, 2**31, 2**53, -(2**53), 2**62, -(2**62), 2**63 - 1, -(2**63), 2**63, 10**400)
OTHERS: Final[tuple[Any, ...]] = (None, True, [], {}, [[]], {"a": []}, "", "x", 1.5, "t-99999999999999999999")
RUNS: Final = 40
SECONDS: Final = 20


@contextmanager
def bounded() -> Iterator[None]:
    """Fail where the block takes longer than a judge of a few hundred events may."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"no verdict after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from places(part, (*path, key))


def mutated(random: Random, line: bytes) -> bytes:
    """The line with a number, or something else in it, replaced."""
    value = json.loads(line)
    every = list(places(value))[1:]
    numbers = [path for path, part in every if isinstance(part, int) and not isinstance(part, bool)]
    if numbers and random.random() < 0.7:
        path, new = random.choice(numbers), random.choice((*NUMBERS,))
    else:
        path, new = random.choice(every)[0], random.choice(OTHERS)
    within: Any = value
    for key in path[:-1]:
        within = within[key]
    within[path[-1]] = new
    return json.dumps(value).encode() + b"\n"


@pytest.mark.parametrize("protocol", [one for one in SimulatedProtocol if one is not SimulatedProtocol.MIXED])
def test_every_mutated_line__gets_a_verdict_or_a_refusal(protocol: SimulatedProtocol) -> None:
    random = Random(f"lines/{protocol}")
    options = SimulationOptions(protocol=protocol, members=2, partitions=2, steps=6)
    whole = [encode(event) + b"\n" for event in simulate(1, options)]
    for _ in range(RUNS):
        lines = list(whole)
        at = random.randrange(len(lines))
        lines[at] = mutated(random, lines[at])
        with bounded():
            try:
                judgement = judge_scanned(scan_lines(lines, "history"))
            except MalformedHistory as fault:  # the start of a run in another format
                assert "history, line" in str(fault)  # noqa: PT017 - most lines raise nothing
                continue
            events = [one for one in scan_lines(lines, "history") if not isinstance(one, UnreadLine)]
            for found in judgement.counterexamples:
                explained(events, found, "again")


@pytest.mark.parametrize("protocol", [SimulatedProtocol.CONNECT, SimulatedProtocol.CONNECT_CONFIG])
@pytest.mark.parametrize("number", [-(2**62), 2**62])
def test_an_offset_far_from_all_others__is_judged_at_once(protocol: SimulatedProtocol, number: int) -> None:
    """A reader of the config topic, and a writer to it, at any place of the run."""
    history = simulate(1, SimulationOptions(protocol=protocol, members=2, partitions=2, steps=6))
    lines = [encode(event) + b"\n" for event in history]
    with_offset = [at for at, line in enumerate(lines) if b'"event":"Config' in line and b'"offset":' in line]
    for at in with_offset[:: max(1, len(with_offset) // 20)]:
        far = json.dumps({**json.loads(lines[at]), "offset": number}).encode() + b"\n"
        with bounded():
            judge_scanned(scan_lines([*lines[:at], far, *lines[at + 1 :]], "history"))


def test_a_name_that_is_no_text__is_refused_and_named() -> None:
    lines = [b'{"event":[]}\n', b'{"event":{}}\n']
    faults = [one.fault for one in scan_lines(lines, "f") if isinstance(one, UnreadLine)]
    assert faults[0].startswith("f, line 1: [] is no event")
    assert faults[1].startswith("f, line 2: {} is no event")


def test_an_integer_of_more_than_64_bits__is_refused() -> None:
    line = b'{"event":"MemberLeft","group":"g","source":"m0","seq":0,"time_ms":%d,"member":"m0"}\n' % (2**63)
    (found,) = scan_lines([line], "f")
    assert isinstance(found, UnreadLine)
    assert (
        "MemberLeft: Expected `int` <= 9223372036854775807 - at `$.time_ms`, value 9223372036854775808" in found.fault
    )


def test_known_numbers_between_two_ends__in_order__however_far_the_ends_are() -> None:
    known = {7: "a", 3: "b", 5: "c"}
    assert list(between(known, -(2**62), 2**62)) == [3, 5, 7]
    assert list(between(known, 3, 6)) == [3, 5]
    assert list(between(known, 9, 2)) == []
