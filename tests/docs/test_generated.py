"""Generated pages are up to date with the code they are generated from."""

from pathlib import Path

from rebalance_check.impl.mutants import MUTANTS
from rebalance_check.model.vocabulary.events import EVENT_TYPES
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.history import decode, encode
from rebalance_check.report.catalogue_page import catalogue_markdown
from rebalance_check.report.event_examples import SECTIONS
from rebalance_check.report.events_page import events_markdown
from rebalance_check.report.field_bugs_page import field_bugs_markdown
from rebalance_check.report.mutants_page import mutants_markdown, replace_generated

ROOT = Path(__file__).parents[2]


def test_the_track_record_lists_the_mutants_there_are() -> None:
    page = (ROOT / "TRACK_RECORD.md").read_text(encoding="utf-8")
    again = "run `rebalance-check mutants --markdown` and put its output in the place of the generated part"
    assert page == replace_generated(page, mutants_markdown(MUTANTS.values())), again


def test_the_page_of_the_bugs_of_the_field_lists_them_all() -> None:
    page = (ROOT / "docs" / "field-bugs.md").read_text(encoding="utf-8")
    assert page == field_bugs_markdown(MUTANTS.values()), (
        "run `rebalance-check mutants --field-bugs > docs/field-bugs.md`"
    )


def test_the_page_of_the_invariants_lists_the_catalogue() -> None:
    page = (ROOT / "docs" / "invariants.md").read_text(encoding="utf-8")
    assert page == catalogue_markdown(CATALOGUE), "run `rebalance-check invariants --markdown > docs/invariants.md`"


def test_the_page_of_the_events_lists_the_vocabulary() -> None:
    page = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
    assert page == events_markdown(), "run `rebalance-check schema --markdown > docs/events.md`"


def test_each_event_has_one_example__in_the_page_and_valid() -> None:
    examples = [example for section in SECTIONS for example in section.examples]
    assert sorted(type(example).__name__ for example in examples) == sorted(EVENT_TYPES)
    assert [decode(encode(example)) for example in examples] == examples
    assert {example.source for example in examples} >= {"harness", "coordinator", "m0"}
    assert all(example.group and example.seq >= 0 for example in examples)


def test_replacing_the_generated_part_leaves_the_rest_alone() -> None:
    page = "# Head\n\n" + mutants_markdown([]) + "\ntail\n"
    table = mutants_markdown(list(MUTANTS.values())[:1])
    assert replace_generated(page, table) == "# Head\n\n" + table + "\ntail\n"


def test_each_invariant_stands_in_the_catalogue_once() -> None:
    names = [invariant.name for invariant in CATALOGUE]
    assert names == list(dict.fromkeys(names))
