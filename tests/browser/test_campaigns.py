"""Pages of campaigns in Chromium: findings that are alike, the list of runs, one run taken out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check import write_history
from rebalance_check.cli import run
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from tests.browser.chromium import Browser

pytestmark = pytest.mark.browser

ROWS = ".window tbody tr[data-index]"
MUTANT = "revoked-partitions-kept"


@pytest.fixture
def campaign(browser: Browser, tmp_path: Path) -> Browser:
    """The page of seeds 0 to 11 with a planted defect, opened."""
    page = tmp_path / "campaign.html"
    arguments = "--seeds 0:12 --protocol cooperative --workers 1 --invariant callbacks_alternate --mutant"
    assert run(["fuzz", *arguments.split(), MUTANT, "--html", str(page)]) == 10
    browser.open(page)
    return browser


def listed(browser: Browser) -> list[str]:
    return [text.split()[0] for text in browser.texts(ROWS)]


def test_findings_that_are_alike__name_their_runs(campaign: Browser) -> None:
    (finding,) = campaign.texts(".finding")
    assert "callbacks_alternate m# does not own t-#, still assigned by its callbacks" in finding
    named = campaign.texts(".finding .link")
    campaign.click(".finding button", "list these")
    assert listed(campaign) == named
    assert len(named) > 1


def test_the_list__is_filtered_by_verdict_and_name(campaign: Browser) -> None:
    assert listed(campaign) == [str(seed) for seed in range(12)]
    campaign.choose(".filter select", "held")
    held = listed(campaign)
    campaign.choose(".filter select", "violated")
    assert sorted(held + listed(campaign), key=int) == [str(seed) for seed in range(12)]
    campaign.choose(".filter select", "")
    campaign.type(".filter input", "11")
    assert listed(campaign) == ["11"]


def test_one_run__is_opened__and_taken_out_as_a_history_file(campaign: Browser, tmp_path: Path) -> None:
    seed = int(campaign.texts(".finding .link")[0])
    campaign.click(f"{ROWS} .link", "take out")  # of the first run
    campaign.click(".finding .link", str(seed))
    assert f"fuzz --seeds {seed}:{seed + 1}" in campaign.one(".facts").text
    campaign.click(".download")
    for number in (0, seed):
        options = SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, mutant=MUTANT)
        write_history(tmp_path / "expected.jsonl", simulate(number, options))
        assert campaign.downloaded(f"seed-{number}.jsonl") == (tmp_path / "expected.jsonl").read_bytes()
    campaign.click(".back")
    assert len(listed(campaign)) == 12
