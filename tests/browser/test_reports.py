"""Pages of histories in Chromium: lanes, table, filter, zoom, details, and the history that a page gives back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rebalance_check import Event, NoDoubleOwnership, RevokedBeforeReassigned, judge, write_history
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.execution import execute
from rebalance_check.model.registry import path_at
from rebalance_check.report.pages.run_pages import ListedRun, run_page
from rebalance_check.report.paths import shown_path
from rebalance_check.report.shown_histories import shown_history
from tests.browser.chromium import Browser
from tests.two_owners import history_with_two_owners

pytestmark = pytest.mark.browser

ROWS = ".window tbody tr[data-index]"


def opened(browser: Browser, folder: Path, *histories: list[Event]) -> None:
    """Open the page of these histories."""
    claims = [NoDoubleOwnership, RevokedBeforeReassigned]
    names = [Path(f"{number}.jsonl") for number in range(len(histories))]
    runs = [
        shown_history(str(name), [name], each, judge(each, claims)) for name, each in zip(names, histories, strict=True)
    ]
    show(browser, folder, run_page(map(ListedRun.of, runs)))


def show(browser: Browser, folder: Path, page: str) -> None:
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    browser.open(path)


def cells(browser: Browser, row: int) -> list[str]:
    """The cells of the row that shows the step of this number."""
    found = browser.script(
        "return [...document.querySelectorAll(arguments[0])].map((row) => [...row.children].map((c) => c.innerText))",
        ROWS,
    )
    return next(each[1:] for each in found if each[0] == str(row))


def shown_steps(browser: Browser) -> list[str]:
    return [text.split("\n")[0].split()[0] for text in browser.texts(ROWS)]


def long_history(steps: int = 300) -> list[Event]:
    return list(simulate(0, SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, members=4, steps=steps)))


def test_a_violated_history__shows_why__where__and_what_everybody_owned(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, history_with_two_owners())
    assert browser.texts(".finding h3") == ["revoked_before_reassigned t-1 goes from m0 to m1 within generation 2"]
    assert "no_double_ownership" in browser.one(".finding").text
    computed = "AssignmentComputed m0 g2 owned_partitions=a(t-0,t-1),b() assignments=a(t-0),b(t-1)"
    assert cells(browser, 16)[1:] == [computed, "Completing g2", "t-0  (t-1)", "-"]
    assert browser.one(".window tr.broken td").text == "16"
    browser.click(".finding .link", "step 16")
    assert browser.one(".window tr.chosen td").text == "16"


def test_of_a_large_history_only_the_rows_in_view_are_elements__and_every_row_can_be_scrolled_to(
    browser: Browser, tmp_path: Path
) -> None:
    history = long_history(steps=3000)
    opened(browser, tmp_path, history)
    assert len(history) > 50_000
    assert len(browser.all(ROWS)) < 100
    browser.script("document.querySelector('.window').scrollTop = 1e9")
    last = f"{len(history):,}"
    browser.until(lambda: last in shown_steps(browser), f"row {last}")
    assert len(browser.all(ROWS)) < 100


def test_the_filter__by_source_type_text_and_change(browser: Browser, tmp_path: Path) -> None:
    history = history_with_two_owners()
    opened(browser, tmp_path, history)
    count = ".run .count"
    assert browser.one(count).text == f"{len(history)} steps"
    selects = ".filter label:nth-child({}) select"
    browser.choose(selects.format(1), "m1")
    assert shown_steps(browser) == [str(i) for i, event in enumerate(history, 1) if event.source == "m1"]
    browser.choose(selects.format(1), "")
    browser.choose(selects.format(2), "MemberJoined")
    assert browser.one(count).text == f"3 of {len(history)} steps"
    browser.type(".filter input", "g2")
    assert shown_steps(browser) == ["14", "15"]
    browser.choose(selects.format(2), "")
    browser.type(".filter input", "REBALANCE_IN_PROGRESS")
    assert shown_steps(browser) == ["12"]
    browser.type(".filter input", "no such text")
    assert browser.one(count).text == f"0 of {len(history)} steps"
    browser.type(".filter input", " ")
    browser.choose(".filter > select", "concerned")
    assert shown_steps(browser) == ["16"]


def test_zoom__shows_fewer_steps__and_all_again(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, long_history())

    def steps_in_view() -> int:
        """Shown by the tooltip at both ends of the lanes."""
        return edge(browser, "right") - edge(browser, "left") + 1

    everything = steps_in_view()
    assert everything > 3000
    for _ in range(3):
        browser.click(".zoom button", "+")
    assert everything / 10 < steps_in_view() < everything / 6
    browser.click(".zoom button", "all")
    assert steps_in_view() == everything


def edge(browser: Browser, side: str) -> int:
    """The step under the first or last pixel of the coordinator's lane."""
    canvas = browser.one(".lanes canvas")
    width, height = canvas.size["width"], canvas.size["height"]
    x = 133 - width // 2 if side == "left" else width // 2 - 6
    browser.hover(canvas, x, 30 - height // 2)
    text = browser.until(lambda: browser.one(".tooltip").text, "the tooltip")
    return int(text.splitlines()[-1].split()[0].replace(",", ""))


def test_the_pointer_on_a_lane__tells_who_owns_the_partition_and_since_when(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, history_with_two_owners())
    canvas = browser.one(".lanes canvas")
    x = canvas.size["width"] // 2 - 8  # the last step
    y = 20 + 4 * 22 + 11 - canvas.size["height"] // 2  # the fifth lane: t-1
    browser.hover(canvas, x, y)
    assert browser.one(".tooltip").text.splitlines()[:2] == ["t-1 m0 + m1", "steps 18 to 19"]


def test_the_pointer_on_a_row__tells_all_fields_of_the_event(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, history_with_two_owners())
    browser.hover(browser.one(".window tr[data-index='13'] td:nth-child(3)"))
    said = browser.one(".tooltip").text
    for part in ("MemberJoined", "owned_partitions", "t-0, t-1", "member_id"):
        assert part in said


def test_a_click_on_a_lane__brings_the_step_into_the_table(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, long_history())
    canvas = browser.one(".lanes canvas")
    browser.hover(canvas, canvas.size["width"] // 4, 30 - canvas.size["height"] // 2)
    step = browser.one(".tooltip").text.splitlines()[-1].split()[0]
    browser.click_at(canvas, canvas.size["width"] // 4, 30 - canvas.size["height"] // 2)
    assert browser.one(".window tr.chosen td").text == step


def test_the_history_taken_out__is_the_file_that_was_judged(browser: Browser, tmp_path: Path) -> None:
    history = [*simulate(5, SimulationOptions(protocol=SimulatedProtocol.CONNECT, steps=30))]
    opened(browser, tmp_path, history)
    browser.click(".download")
    write_history(tmp_path / "original.jsonl", history)
    assert browser.downloaded("0.jsonl") == (tmp_path / "original.jsonl").read_bytes()


def test_several_histories__are_a_list_with_findings_that_are_alike(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, long_history(), history_with_two_owners(), history_with_two_owners())
    shapes = browser.texts(".finding h3")
    assert shapes[0] == "violated revoked_before_reassigned t-# goes from m# to m# within generation #"
    assert len(browser.all(ROWS)) == 3
    browser.choose(".filter select", "violated")
    assert browser.texts(f"{ROWS} td:first-child") == ["1.jsonl", "2.jsonl"]
    browser.type(".filter input", "2.json")
    browser.click(f"{ROWS} .link", "2.jsonl")
    assert "2.jsonl" in browser.one("h2").text
    browser.click(".back")
    assert browser.one("h2").text == "Findings"


def test_two_groups__are_shown_one_after_the_other(browser: Browser, tmp_path: Path) -> None:
    history = history_with_two_owners()
    other = [changed(event, group="h") for event in history if event.source == "m1"]
    opened(browser, tmp_path, [*history, *other])
    heads = "return [...document.querySelectorAll('.window th')].map((head) => head.innerText)"
    assert browser.script(heads)[3:] == ["coordinator", "m0", "m1"]
    browser.choose(".toolbar > label select", "h")
    assert browser.script(heads)[3:] == ["m1"]


def changed(event: Event, **fields: Any) -> Event:
    return type(event)(**{name: getattr(event, name) for name in event.__dataclass_fields__} | fields)


def test_a_path_of_the_model__is_shown_like_a_history(browser: Browser, tmp_path: Path) -> None:
    run = execute(path_at("v1/eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off/0.0.0.0.0"))
    show(browser, tmp_path, run_page([ListedRun.of(shown_path(run, "one_leader"))]))
    assert shown_steps(browser) == ["1", "2", "3", "4", "5"]
    assert browser.all(".download") == []
    browser.hover(browser.one(".window tr[data-index='0'] td:nth-child(3)"))
    assert "RunStarted" in browser.one(".tooltip").text


def test_hostile_names__are_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    name = "</script><img src=x onerror='document.title=1'>\u202e\x07"
    history = [changed(event, group=name, source=f"{event.source}{name}") for event in history_with_two_owners()]
    opened(browser, tmp_path, history)
    assert browser.all("img") == []
    browser.hover(browser.one(".window tr[data-index='13'] td:nth-child(3)"))
    assert "</script><img src=x onerror='document.title=1'>\\u202e\\x07" in browser.one(".tooltip").text
    assert browser.driver.title == "rebalance-check"
    browser.script("document.querySelector('.filter label select').selectedIndex = 2")
    browser.script("document.querySelector('.filter label select').dispatchEvent(new Event('change'))")
    assert len(shown_steps(browser)) == sum(event.source.startswith("harness") for event in history)
