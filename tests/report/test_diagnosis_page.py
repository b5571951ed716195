"""The page of a diagnosis, without a browser: its answer, its lanes and the lines behind them, its limits."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import pytest

from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, diagnose, of_sources
from rebalance_check.pipeline.diagnose.facts import (
    Assigned,
    AssignmentStored,
    Fact,
    Joined,
    JoinPhaseEnded,
    MemberAdded,
    MemberLeft,
    Place,
    RebalanceBegan,
    Revoked,
)
from rebalance_check.pipeline.diagnose.sources import Source
from rebalance_check.pipeline.diagnose.triggers import Cause
from rebalance_check.report.diagnosis.generation_lane import COLOURS
from rebalance_check.report.diagnosis.page import Limits, diagnosis_page
from tests.parsed_page import ParsedPage

DATA: Final = Path(__file__).parents[1] / "data" / "diagnose" / "logs"
HOSTILE: Final = "</script><script>alert(1)</script><!--\u202e\x07&lt;\"'`${1}"


def diagnosed(case: str, release: str = "3.9.2") -> Diagnosis:
    clients = sorted((DATA / "client" / f"java-{release}").glob(f"{case}-m?.log"))
    return diagnose([DATA / "broker" / release / f"{case}.log", *clients], [case])


@dataclass(frozen=True)
class Shown:
    """A stretch of a lane: seconds since the begin of the group, text, colours, and its lines."""

    begin_s: float
    text: str
    colours: tuple[str, ...]
    lines: tuple[str, ...]


def stretches(page: ParsedPage, name: str, group: int = 0) -> list[Shown]:
    data, lines = page.data(f"group-{group}"), page.data("lines")
    (lane,) = [lane for lane in data["lanes"] if lane["name"] == name]
    places = [f"{lines['sources'][row[0]]}:{row[1]}" for row in lines["rows"]]
    parts = zip(accumulate(lane["rows"]), lane["texts"], lane["tones"], lane["lines"], strict=True)
    return [
        Shown(
            round(begin / 1000, 1), data["cells"][text], tuple(data["tones"][tone]["colours"]),
            tuple(places[line] for line in own),
        )
        for begin, text, tone, own in parts
    ]  # fmt: skip


@pytest.fixture(scope="module")
def held_up() -> ParsedPage:
    return ParsedPage(diagnosis_page(diagnosed("bill-holdup")))


def test_a_group__has_lanes_of_generations_members_and_partitions(held_up: ParsedPage) -> None:
    lanes = held_up.data("group-0")["lanes"]
    assert [(lane["kind"], lane["name"]) for lane in lanes] == [
        ("generations", "generations"),
        *(("member", f"m{number}") for number in (1, 2, 3)),
        *(("partition", f"t-bill-holdup-{number}") for number in range(4)),
    ]


def test_generations__show_their_phases_in_the_colour_of_the_cause(held_up: ParsedPage) -> None:
    shown = stretches(held_up, "generations")
    assert [(one.begin_s, one.text, one.colours) for one in shown[3:6]] == [
        (10.0, "join 2: a new member", ("cause-new",)),
        (21.3, "sync 2", ("cause-new",)),
        (21.3, "generation 2, 3 members", ("cause-new",)),
    ]
    assert [one.text for one in shown[-2:]] == ["join 4: a member closed", "empty, generation 4"]
    assert shown[3].lines == ("bill-holdup.log:7",)
    assert shown[4].lines == ("bill-holdup.log:8",)


def test_a_member__shows_how_it_ended__and_the_lines_that_say_it(held_up: ParsedPage) -> None:
    joined, gone = stretches(held_up, "m1")
    assert (joined.text, gone.text) == ("m1, left: closed", "no member")
    assert joined.begin_s < gone.begin_s
    assert "bill-holdup.log:10" in joined.lines
    assert gone.lines == ("bill-holdup.log:11",)
    (lane,) = [lane for lane in held_up.data("group-0")["lanes"] if lane["name"] == "m1"]
    cells = held_up.data("group-0")["cells"]
    assert cells[lane["details"][0]].startswith("member id m1-b42b521f-de4a-466d-8c10-61fc0aa265b3; client m1; host ")
    assert [cells[text] for text in lane["marks"]["texts"]][-2:] == ["it sends LeaveGroup", "it forgets its generation"]


def test_a_partition__shows_its_owners_and_the_times_without(held_up: ParsedPage) -> None:
    shown = stretches(held_up, "t-bill-holdup-0")
    assert [(one.begin_s, one.text, one.colours) for one in shown] == [
        (3.0, "m1", ("owner-0",)),
        (11.0, "no owner", ("violated",)),
        (21.4, "m1", ("owner-0",)),
        (24.7, "no owner", ("violated",)),
        (25.4, "m3", ("owner-2",)),
        (25.9, "no owner until the end of the logs", ()),
    ]
    assert shown[1].lines == ("bill-holdup-m1.log:21", "bill-holdup-m1.log:27")


def test_two_owners_at_one_time__are_both_shown() -> None:
    page = ParsedPage(diagnosis_page(diagnosed("pay-polltimeout")))
    shown = {one.text: one for one in stretches(page, "t-pay-polltimeout-2")}
    assert shown["m2 + m1"].colours == ("owner-1", "owner-0")
    assert len(shown["m2 + m1"].lines) > 2


def test_many_ids_of_one_client__stand_in_one_lane() -> None:
    page = ParsedPage(diagnosis_page(diagnosed("mail-storm")))
    lanes = [lane["name"] for lane in page.data("group-0")["lanes"] if lane["kind"] == "member"]
    assert lanes == ["m2", "m3", "m1"]
    ids = [one.text for one in stretches(page, "m1") if one.text != "no member"]
    assert len(ids) == 7
    assert ids[0] == "m1-03e6, left: poll timeout"
    faults = page.data("group-0")["faults"]
    assert [round(ms / 1000, 1) for ms in faults] == [1.5]


def test_the_answer_is_text_of_the_page__before_any_script() -> None:
    text = diagnosis_page(diagnosed("mail-storm"))
    body = text[text.index("<body>") : text.index('<script type="application/json"')]
    for expected in ("11 rebalances in 51.0 s", "8 of 11 because a member did not poll in time", "m2 had 8 member ids"):
        assert expected in body
    evidence = "mail-storm.log:10</b> [2026-11-28 14:12:28,480] INFO [GroupCoordinator 1]: Preparing to rebalance group"
    assert evidence in body
    assert 'data-since="1795875140215"' in body


def test_rows_of_the_timeline__have_their_lines(held_up: ParsedPage) -> None:
    rows = held_up.data("group-0")["rows"]
    assert rows["cells"][1] == [
        "2026-11-28 14:11:26.392", "2", "11.3 s", "2 > 3", "1", "a new member: m3; waited 11.3 s for m2",
    ]  # fmt: skip
    assert len(rows["times"]) == len(rows["lines"]) == 4


def test_a_page_loads_nothing(held_up: ParsedPage) -> None:
    addresses = [
        (tag, value)
        for tag, attributes in held_up.elements
        for name, value in attributes.items()
        if name in {"src", "srcset", "action", "data"} or (name == "href" and not str(value).startswith("#"))
    ]
    assert addresses == [("link", "data:,")]
    assert not any("style" in attributes or "onclick" in attributes for _, attributes in held_up.elements)


def test_every_cause_but_the_unusual_has_a_colour() -> None:
    assert {cause for cause in Cause if cause not in COLOURS} == {
        Cause.STORE_ERROR, Cause.OVER_CAPACITY, Cause.DOWNGRADE, Cause.UNKNOWN,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------- hostile, long, empty


def made(group: str, members: list[str], rebalances: int, source: str = "broker.log") -> list[Source]:
    """The sources of a group whose members leave and come back one after the other, and swap two partitions."""
    broker: list[Fact] = []
    client: list[Fact] = []
    for number in range(rebalances):
        name = members[number % len(members)]
        at = 1_800_000_000_000 + number * 60_000
        broker += _rebalance(group, name, number, at, source)
        own: dict[str, Any] = {"group": group, "client": name, "member": f"{name}-{number}"}
        place = Place("client.log", number + 1, f"Adding {number} {HOSTILE}")
        client.append(Joined(place=place, time_ms=at + 2_000, generation=number + 1, **own))
        client.append(Assigned(place=place, time_ms=at + 2_100, partitions=("t-0", f"t-{number % 50}"), **own))
        client.append(Revoked(place=place, time_ms=at + 50_000, partitions=("t-0", f"t-{number % 50}"), **own))
    return [Source(source, facts=broker), Source("client.log", facts=client)]


def _rebalance(group: str, name: str, number: int, at: int, source: str) -> Iterator[Fact]:
    def place(line: int) -> Place:
        return Place(source, 4 * number + line, f"line {line} of {name} {HOSTILE}")

    yield RebalanceBegan(place=place(1), time_ms=at, group=group, generation=number,
                         reason=f"Adding new member {name}-{number}")  # fmt: skip
    yield MemberAdded(place=place(2), time_ms=at, group=group, member=f"{name}-{number}")
    yield JoinPhaseEnded(place=place(3), time_ms=at + 2_000, group=group, generation=number + 1, members=1)
    yield AssignmentStored(place=place(4), time_ms=at + 2_050, group=group, generation=number + 1)
    yield MemberLeft(place=place(5), time_ms=at + 55_000, group=group, member=f"{name}-{number}")


def test_hostile_names_and_lines__are_text() -> None:
    found = of_sources(made(HOSTILE, [HOSTILE, "m"], 4, source=HOSTILE))
    text = diagnosis_page(found)
    assert "<script>alert" not in text
    assert all(char.isprintable() or char == "\n" for char in text)
    page = ParsedPage(text)
    assert HOSTILE in page.data("lines")["sources"]
    assert [row[2] for row in page.data("lines")["rows"] if row[1] == 1] == [
        f"line 1 of {HOSTILE} {HOSTILE}", f"Adding 0 {HOSTILE}",
    ]  # fmt: skip
    assert html.escape(HOSTILE.split("\u202e", maxsplit=1)[0], quote=False) in text


def test_a_long_timeline__is_limited__and_says_so() -> None:
    members = [f"m{number}" for number in range(200)]
    found = of_sources(made("g", members, 1_000))
    page = ParsedPage(text := diagnosis_page(found, Limits(rebalances=600, weight=400, texts=300, findings=1)))
    data, lines = page.data("group-0"), page.data("lines")
    assert data["notes"] == [
        "the last 600 of 1,000 rebalances are shown",
        "40 of 200 members are drawn, those that findings name or that change most",
        "10 of 50 partitions are drawn, those that were without owner longest",
    ]
    assert len(data["rows"]["cells"]) == 600
    assert sum(len(row) == 3 for row in lines["rows"]) == 300
    assert f"{len(lines['rows']) - 300} further lines of logs stand here without their text" in text


def test_a_group_of_ten_thousand_rebalances_and_500_members__has_a_page_of_some_megabytes() -> None:
    found = of_sources(made("g", [f"m{number}" for number in range(500)], 10_000))
    text = diagnosis_page(found)
    assert len(text) < 20_000_000
    data = ParsedPage(text).data("group-0")
    assert len(data["rows"]["cells"]) == 10_000
    assert sum(lane["kind"] == "member" for lane in data["lanes"]) == 500


def test_more_groups_than_a_page_draws__are_answered_all_the_same() -> None:
    sources = [source for number in range(4) for source in made(f"g{number}", ["m"], 3)]
    text = diagnosis_page(of_sources(sources), Limits(groups=2))
    page = ParsedPage(text)
    assert [name for name in page.scripts if name.startswith("group-")] == ["group-0", "group-1"]
    assert "lanes are drawn for 2 of 4 groups" in text
    assert text.count('class="diagnosed"') == 4


def test_sources_without_a_group__make_a_page_that_says_so() -> None:
    text = diagnosis_page(of_sources([Source("a.log", kind="nothing", fault="the file is empty")]))
    assert "No source says anything about a rebalance of a group." in text
    assert "the file is empty" in text


def test_a_group_without_times__has_an_answer_and_no_lanes() -> None:
    place = Place("client.log", 1, "Successfully joined")
    facts: list[Fact] = [Joined(place=place, time_ms=None, group="g", client="m", generation=each) for each in (1, 2)]
    text = diagnosis_page(of_sources([Source("client.log", facts=facts)]))
    assert "group <code>g</code>: nothing wrong found" in text
    assert [name for name in ParsedPage(text).scripts if name.startswith("group-")] == []


def test_one_diagnosis_makes_one_page() -> None:
    assert diagnosis_page(diagnosed("orders-churn")) == diagnosis_page(diagnosed("orders-churn"))
    assert json.dumps(ParsedPage(diagnosis_page(diagnosed("orders-churn", "4.3.1"))).data("lines"))
