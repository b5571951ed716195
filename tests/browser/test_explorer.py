"""The explorer in Chromium: walking forward, back and elsewhere, searching, and Kafka where there is none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rebalance_check.browser.api import ExplorerApi
from rebalance_check.browser.kafka_walks import KafkaWalks
from rebalance_check.browser.searches import Searches, SearchOptions
from rebalance_check.browser.server import ExplorerServer
from rebalance_check.model.registry import MUTANTS
from tests.browser.chromium import Browser

pytestmark = pytest.mark.browser

START = "v1/cooperative?members=2&partitions=2&generations=2&crashes=0&initial_delay=off/"
PLACE = ".walker .count"
FIRST_ASSIGNMENT = ("SendJoinGroup m0", "JoinGroup m0", "ReceiveJoinGroup m0", "SyncGroup m0", "ReceiveSyncGroup m0")


@pytest.fixture
def explorer(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    """The page of an explorer that has no jars of Kafka."""
    monkeypatch.setenv("REBALANCE_CHECK_KAFKA_JARS", str(tmp_path))
    api = ExplorerApi(START, Searches(SearchOptions(compiled=False)), KafkaWalks())
    stop = threading.Event()
    with ExplorerServer(api, 0) as server:
        serving = threading.Thread(target=server.serve_until, args=(stop.is_set,))
        serving.start()
        browser.open(server.url)
        browser.one(".step")
        yield browser
        browser.open("about:blank")
        stop.set()
        serving.join()
        api.close()


def take(explorer: Browser, action: str) -> None:
    """Take the step with this action, and wait until it is taken."""
    place = explorer.one(PLACE).text
    explorer.click(".step", f"{action} ")
    explorer.until(lambda: explorer.one(PLACE).text != place, f"the step {action}")


def at(explorer: Browser, place: str) -> None:
    explorer.until(lambda: explorer.one(PLACE).text == place, place)


def state(explorer: Browser, table: int, field: str) -> list[str]:
    """The values of a field: of the group (table 0), or of each member (table 1)."""
    rows = explorer.script(
        "return [...document.querySelectorAll('.state table')[arguments[0]].rows]"
        ".map((row) => [...row.cells].map((cell) => cell.innerText))",
        table,
    )
    found: list[str] = next(row[1:] for row in rows if row[0] == field)
    return found


def test_a_walk__forward_back_and_away(explorer: Browser) -> None:
    for action in FIRST_ASSIGNMENT:
        take(explorer, action)
    assert state(explorer, 0, "status") == ["STABLE"]
    assert state(explorer, 1, "owned") == ["0 1", "-"]
    assert explorer.texts(".walked .window tr[data-index] td:nth-child(3)") == list(FIRST_ASSIGNMENT)
    explorer.click(".back")
    at(explorer, "step 4 of 5")
    assert state(explorer, 1, "status") == ["SYNCING", "UNJOINED"]
    explorer.click(".forward")
    at(explorer, "step 5 of 5")
    explorer.click(".first")
    at(explorer, "step 0 of 5")
    explorer.click(".walked .window tr[data-index='2']")
    at(explorer, "step 3 of 5")
    take(explorer, "SendJoinGroup m1")  # another way than the walk went
    at(explorer, "step 4 of 4")


def test_keys_walk__too(explorer: Browser) -> None:
    explorer.press("1")
    at(explorer, "step 1 of 1")
    explorer.press("ArrowLeft")
    at(explorer, "step 0 of 1")
    explorer.press("ArrowRight")
    at(explorer, "step 1 of 1")


def test_the_address_of_the_page__names_the_walk(explorer: Browser) -> None:
    take(explorer, "SendJoinGroup m0")
    take(explorer, "JoinGroup m0")
    explorer.click(".back")
    at(explorer, "step 1 of 2")
    explorer.driver.refresh()
    at(explorer, "step 1 of 2")


def test_lanes_and_claims_of_a_walk__are_shown(explorer: Browser) -> None:
    for action in FIRST_ASSIGNMENT:
        take(explorer, action)
    canvas = explorer.one(".walked .lanes canvas")
    explorer.hover(canvas, canvas.size["width"] // 2 - 30, 20 + 3 * 22 + 11 - canvas.size["height"] // 2)
    assert explorer.one(".tooltip").text.splitlines()[0] == "t-0 m0"
    assert "held" in explorer.one(".claims-here summary").text


def test_a_search__shows_which_rules_fired__and_walks_to_what_is_reached(explorer: Browser) -> None:
    explorer.click(".search .begin")
    explorer.one(".search p", "held")
    taken = explorer.texts(".coverage tbody th")
    assert "JoinGroup" in taken
    assert "Crash" in explorer.one(".never").text
    explorer.click(".search details:last-of-type summary")
    goal = explorer.one(".search details:last-of-type li .link")
    name = goal.text
    goal.click()
    explorer.click(".search .link", "a shortest way there")
    explorer.one(".claims-here p", name)


def test_a_planted_defect__has_a_counterexample_to_walk(explorer: Browser) -> None:
    mutant = MUTANTS["generation-is-reused"]
    explorer.choose(".mutants", f"v1/{mutant.bounds.address()}!{mutant.name}/")
    explorer.until(lambda: str(explorer.one(".bounds").get_property("value")).endswith(f"!{mutant.name}"), "the defect")
    explorer.click(".search .begin")
    explorer.click(".search .link", "walk a shortest counterexample")
    explorer.one(".claims-here .finding", mutant.caught_by)
    explorer.click(".back")
    explorer.one(".step.breaks", f"breaks {mutant.caught_by}")


def test_bounds_that_are_none__are_refused_in_a_sentence(explorer: Browser) -> None:
    explorer.type(".bounds", "eager?members=99")
    explorer.click(".toolbar button", "begin")
    assert "members is 99" in explorer.one(".error", "members").text
    assert any("400" in error for error in explorer.errors())  # the browser's own line on the refusal
    explorer.type(".bounds", "eager?members=1")
    explorer.click(".toolbar button", "begin")
    explorer.until(lambda: not explorer.one(".explorer").text.count("members is 99"), "no error any more")


def test_without_jars__kafka_says_what_is_missing(explorer: Browser) -> None:
    take(explorer, "SendJoinGroup m0")
    explorer.click(".kafka .begin")
    assert "holds no Kafka" in explorer.one(".kafka .error").text
    assert any("503" in error for error in explorer.errors())
