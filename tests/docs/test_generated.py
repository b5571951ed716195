"""Generated pages are up to date with the code they are generated from."""

from pathlib import Path

from rebalance_check.impl.mutants import MUTANTS
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.report.catalogue_page import catalogue_markdown
from rebalance_check.report.mutants_page import mutants_markdown, replace_generated

ROOT = Path(__file__).parents[2]


def test_the_track_record_lists_the_mutants_there_are() -> None:
    page = (ROOT / "TRACK_RECORD.md").read_text(encoding="utf-8")
    again = "run `rebalance-check mutants --markdown` and put its output in the place of the generated part"
    assert page == replace_generated(page, mutants_markdown(MUTANTS.values())), again


def test_the_page_of_the_invariants_lists_the_catalogue() -> None:
    page = (ROOT / "docs" / "invariants.md").read_text(encoding="utf-8")
    assert page == catalogue_markdown(CATALOGUE), "run `rebalance-check invariants --markdown > docs/invariants.md`"


def test_replacing_the_generated_part_leaves_the_rest_alone() -> None:
    page = "# Head\n\n" + mutants_markdown([]) + "\ntail\n"
    table = mutants_markdown(list(MUTANTS.values())[:1])
    assert replace_generated(page, table) == "# Head\n\n" + table + "\ntail\n"


def test_each_invariant_stands_in_the_catalogue_once() -> None:
    names = [invariant.name for invariant in CATALOGUE]
    assert names == list(dict.fromkeys(names))
