"""The README's table of a run shows the figures that the seeds give; the seconds are those of one machine."""

import re
from pathlib import Path

from rebalance_check.commands import run as job
from rebalance_check.commands._console import Console
from rebalance_check.properties.catalogue import CATALOGUE
from tests.expectations import Expectations

PAGE = Path(__file__).parents[2] / "README.md"
ROWS = {"fuzz": ("local, seeds 0:200", range(200)), "table": ("spark, seeds 0:40", range(40))}


def test_the_readme_shows_the_events_of_these_seeds(expectations: Expectations) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for part, (of, seeds) in ROWS.items():
        row = re.search(rf"^{part} +{re.escape(of)} +(\S.*?) {{2,}}[\d.]+ +held$", page, re.MULTILINE)
        assert row is not None, f"the README shows no line of {part} {of}"
        figures = job.campaign(Console(as_json=False), part, seeds, "local", None).figures
        assert len(figures) == len(row[1]), "the columns of the table in the README need another width"
        page = page[: row.start(1)] + figures + page[row.end(1) :]
    expectations.text(PAGE, page)


def test_the_readme_says_about_how_many_invariants_there_are() -> None:
    assert f"some {round(len(CATALOGUE), -1)} more" in PAGE.read_text(encoding="utf-8")
