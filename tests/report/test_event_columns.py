"""The columns that a page embeds of a history give back every line, as the script of the page does it."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest

from rebalance_check import events
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.history import encode
from rebalance_check.report.event_examples import SECTIONS
from rebalance_check.report.pages.columns import Templates
from rebalance_check.report.pages.event_columns import NUMBER_HOLE, TEXT_HOLE, EventColumns, PhraseColumns


def lines_of(document: dict[str, Any], templates: Templates) -> list[str]:
    """The lines, as columns.js puts them together."""
    document = document | {"templates": [templates.document()[number] for number in document["templates"]]}
    counts = [document["lines"].count(number) for number in range(len(document["templates"]))]
    columns = [
        [iter([*accumulate(hole), *[sum(hole)] * (count - len(hole))]) for hole in holes]
        for holes, count in zip(document["columns"], counts, strict=True)
    ]
    return [filled(document, number, [next(column) for column in columns[number]]) for number in document["lines"]]


def filled(document: dict[str, Any], number: int, values: list[int]) -> str:
    text, left = "", iter(values)
    for char in document["templates"][number]:
        if char == TEXT_HOLE:
            text += document["texts"][next(left)]
        else:
            text += str(next(left)) if char == NUMBER_HOLE else char
    return text


def given_back(history: list[Event]) -> list[str]:
    templates = Templates()
    columns = EventColumns(templates)
    for event in history:
        columns.add(event)
    return lines_of(columns.document(), templates)


@pytest.mark.parametrize("protocol", list(SimulatedProtocol))
def test_a_history__is_given_back_line_by_line(protocol: SimulatedProtocol) -> None:
    history = list(simulate(3, SimulationOptions(protocol=protocol, steps=20)))
    assert given_back(history) == [encode(event).decode() for event in history]


def test_every_event_of_the_vocabulary__is_given_back() -> None:
    examples = [event for section in SECTIONS for event in section.examples]
    assert given_back(examples) == [encode(event).decode() for event in examples]


@pytest.mark.parametrize(
    "name",
    ['"', "\\", '\\"', "a\x00b\x01c", '","seq":7,"x":"', "m0:1,", "é\u202e\U0001f600", "[1,2]", "-5", "", "9" * 30],
)
def test_any_name__is_given_back(name: str) -> None:
    event = events.MemberJoined(
        group=name, source=name, seq=2**53 + 1, time_ms=-3, member=name, generation=10**15, member_id=f"{name},{name}",
        owned_partitions=(name, "1", "2"),
    )  # fmt: skip
    assert given_back([event, event]) == [encode(event).decode()] * 2


def test_phrases__are_given_back() -> None:
    phrases = ["MemberJoined m0 g2", "MemberJoined m0 g13", "007 0 1.5 v1.0", "", "t-9999999999999999 9"]
    templates = Templates()
    columns = PhraseColumns(templates)
    for phrase in phrases:
        columns.add(phrase)
    assert lines_of(columns.document(), templates) == phrases


def test_a_history_takes_few_bytes() -> None:
    history = list(simulate(0, SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, steps=300)))
    templates = Templates()
    columns = EventColumns(templates)
    for event in history:
        columns.add(event)
    embedded = len(str([columns.document(), templates.document()]).replace(" ", ""))
    assert embedded < sum(len(encode(event)) for event in history) / 4
