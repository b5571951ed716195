"""The page of a diagnosis in Chromium: lanes over time, the lines behind a click, zoom, filter, findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from rebalance_check.pipeline.diagnose.diagnosis import diagnose, of_sources
from rebalance_check.pipeline.diagnose.facts import Fact, JoinPhaseEnded, MemberAdded, Place, RebalanceBegan
from rebalance_check.pipeline.diagnose.sources import Source
from rebalance_check.report.diagnosis.page import diagnosis_page
from tests.browser.chromium import Browser

pytestmark = pytest.mark.browser

DATA: Final = Path(__file__).parents[1] / "data" / "diagnose" / "logs"
NAMES, RULER, LANE = 132, 20, 22
"""The width of names, the heights of the ruler and of a lane, as lanes.js has them."""
ROWS: Final = ".window tbody tr[data-index]"
LANES: Final = "DRAWN.get('group-0').lanes"


def opened(browser: Browser, folder: Path, case: str) -> None:
    clients = sorted((DATA / "client" / "java-3.9.2").glob(f"{case}-m?.log"))
    found = diagnose([DATA / "broker" / "3.9.2" / f"{case}.log", *clients], [case])
    show(browser, folder, diagnosis_page(found))


def show(browser: Browser, folder: Path, page: str) -> None:
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    browser.open(path)
    browser.one(".lanes canvas")
    browser.drawn()


def at(browser: Browser, lane: int, seconds: float) -> tuple[int, int]:
    """The place of a time in the lane of this number, from the middle of the canvas."""
    width, height = browser.script(f"return [{LANES}.canvas.clientWidth, {LANES}.canvas.clientHeight]")
    x = browser.script(f"return {LANES}.scale.x({round(seconds * 1000)})")
    return round(x - width / 2), round(RULER + (lane + 0.5) * LANE - height / 2)


def seen(browser: Browser) -> list[float]:
    """From and to which second the lanes show."""
    found: list[Any] = browser.script(f"return [{LANES}.scale.from / 1000, {LANES}.scale.to / 1000]")
    return [round(each, 1) for each in found]


def said(browser: Browser) -> list[str]:
    return [line for line in browser.texts(".said")[0].splitlines() if line]


def test_a_click_on_a_lane__shows_the_lines_that_say_it(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, "bill-holdup")
    canvas = browser.one(".lanes canvas")
    browser.click_at(canvas, *at(browser, 1, 15))
    title, span, detail, *lines = said(browser)
    assert title == "m1: m1, left: closed"
    assert span == "14:11:17.330 to 14:11:41.099, 23.8 s"
    assert "session timeout 6.0 s; rebalance timeout 20.0 s" in detail
    assert lines[0].startswith("bill-holdup.log:1 [2026-11-28 14:11:17,330] INFO [GroupCoordinator 1]: Dynamic member")
    browser.click_at(canvas, *at(browser, 4, 15))
    assert [line.split(" ")[0] for line in said(browser)] == [
        "t-bill-holdup-0:", "14:11:27.387", "bill-holdup-m1.log:21", "bill-holdup-m1.log:27",
    ]  # fmt: skip
    browser.click_at(canvas, *at(browser, 2, 21.3))
    assert "14:11:37.727 it sends JoinGroup" in said(browser)


def test_the_pointer_on_a_lane__shows_the_stretch(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, "bill-holdup")
    browser.hover(browser.one(".lanes canvas"), *at(browser, 0, 15))
    assert browser.texts(".tooltip")[0].split("\n\n") == [
        "generations join 2: a new member",
        "14:11:26.392 to 14:11:37.729, 11.3 s",
    ]


def test_a_finding__leads_to_its_time_in_the_lanes(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, "pay-polltimeout")
    whole = seen(browser)
    browser.click(".finding .link", "14:11:05.609 UTC, until 14:11:09.880")
    begin, end = seen(browser)
    assert whole[0] < begin < end < whole[1]
    assert browser.script(f"return {LANES}.window.map((ms) => clockText({LANES}.timeline.begin + ms))") == [
        "14:11:05.609", "14:11:09.880",
    ]  # fmt: skip


def test_zoom_and_keys__show_less_time__and_all_again(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, "mail-storm")
    whole = seen(browser)
    browser.click(".zoom button", "+")
    half = seen(browser)
    assert half[1] - half[0] == pytest.approx((whole[1] - whole[0]) / 2, abs=0.2)
    browser.script("document.querySelector('.lanes').focus()")
    browser.press("ArrowRight")
    assert seen(browser)[0] > half[0]
    browser.press("0")
    assert seen(browser) == whole
    for _ in range(14):
        browser.click(".zoom button", "+")
    assert seen(browser)[1] - seen(browser)[0] < 0.1


def test_the_filter__leaves_the_lanes_with_a_text(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, "mail-storm")
    assert browser.texts(".count") == ["3 members, 6 partitions"]
    browser.type(".toolbar input", "STORM-1")
    assert browser.texts(".count") == ["0 members, 1 partition"]
    assert browser.script(f"return {LANES}.lanes.map((lane) => lane.name)") == ["generations", "t-mail-storm-1"]


def test_a_row_of_the_timeline__shows_its_lines__and_its_time(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, "orders-churn")
    assert len(browser.texts(ROWS)) == 8
    browser.click(f"{ROWS}[data-index='4'] td")
    title, first, *_ = said(browser)
    assert title.startswith("2026-11-28 14:10:32.462 5 999 ms 2 > 1 2 a member's session timed out: m3")
    assert first.startswith("orders-churn.log:24 ")
    assert browser.script(f"return clockText({LANES}.timeline.begin + {LANES}.chosen)") == "14:10:32.462"


def test_evidence__stands_behind_the_places(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, "orders-churn")
    browser.click(".finding summary", "orders-churn.log:23")
    assert "has failed, removing it from the group" in browser.one(".finding li").text


def test_names_of_partitions__are_cut_in_their_middle(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, "bill-holdup")
    name = browser.script(
        f"return {LANES}.fittedName({LANES}.canvas.getContext('2d'), 'a-very-long-name-of-a-topic-17', 120)"
    )
    assert name.startswith("a-very")
    assert name.endswith("-17")
    assert "\u2026" in name
    assert len(name) < 20


def test_the_lanes_of_a_further_group__are_drawn_when_they_come_into_view(browser: Browser, tmp_path: Path) -> None:
    found = diagnose([DATA / "broker" / "3.9.2" / "mail-storm.log"])
    show(browser, tmp_path, diagnosis_page(found))
    browser.click(".groups a", "stock-static")
    browser.until(lambda: len(browser.all(".lanes canvas")) == 2, "lanes of the second group")


def test_ten_thousand_rebalances__are_drawn_within_a_blink(browser: Browser, tmp_path: Path) -> None:
    show(browser, tmp_path, diagnosis_page(of_sources([Source("b.log", facts=list_of_rebalances(10_000, 500))])))
    assert browser.texts(".count") == ["500 members, 0 partitions"]
    assert len(browser.all(ROWS)) < 60
    took = browser.script(f"const begun = performance.now(); {LANES}.draw(); return performance.now() - begun")
    assert took < 1000
    browser.script("document.querySelector('.window').scrollTop = 1e9")
    browser.until(lambda: any("10000" in text for text in browser.texts(ROWS)), "the last row")


def list_of_rebalances(count: int, members: int) -> list[Fact]:
    facts: list[Fact] = []
    for number in range(count):
        member, at_ms = f"m{number % members}-{number}", 1_800_000_000_000 + 60_000 * number
        place, reason = Place("b.log", number + 1, f"line {number}"), f"Adding new member {member}"
        facts.append(RebalanceBegan(place=place, time_ms=at_ms, group="g", generation=number, reason=reason))
        facts.append(MemberAdded(place=place, time_ms=at_ms, group="g", member=member, instance=f"m{number % members}"))
        facts.append(JoinPhaseEnded(place=place, time_ms=at_ms + 2_000, group="g", generation=number + 1))
    return facts


def test_hostile_names_and_lines__are_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    name = "</script><img src=x onerror='document.title=1'>\u202e\x07"
    place = Place(name, 1, f"line of {name}")
    reason = f"Adding new member {name}"
    facts: list[Fact] = [
        RebalanceBegan(place=place, time_ms=1_800_000_000_000, group=name, generation=0, reason=reason),
        MemberAdded(place=place, time_ms=1_800_000_000_000, group=name, member=name, instance=name),
        JoinPhaseEnded(place=place, time_ms=1_800_000_009_000, group=name, generation=1, members=1),
    ]
    show(browser, tmp_path, diagnosis_page(of_sources([Source(name, facts=facts)])))
    browser.click_at(browser.one(".lanes canvas"), *at(browser, 1, 5))
    shown = "</script><img src=x onerror='document.title=1'>\\u202e\\x07"
    assert f"{shown}:1 line of {shown}" in said(browser)
    browser.hover(browser.one(".lanes canvas"), *at(browser, 1, 5))
    assert shown in browser.one(".tooltip").text
    assert browser.all("img") == []
    assert browser.driver.title == "rebalance-check diagnose"
