"""The pages that the code makes have all that they list."""

from pathlib import Path

import pytest

from rebalance_check.impl.mutants import MUTANTS
from rebalance_check.model.vocabulary.events import EVENT_TYPES
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.history import decode, encode
from rebalance_check.report.event_examples import SECTIONS
from rebalance_check.report.generated import PAGES, write_pages


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_made_from_the_code__and_says_something(name: str, tmp_path: Path) -> None:
    text = {file.name: file.read_text(encoding="utf-8") for file in write_pages(tmp_path / "generated")}[name]
    assert text.startswith(("# ", "{"))
    assert len(text.splitlines()) > 100


def test_each_invariant_and_each_planted_defect_has_its_place() -> None:
    invariants, defects = PAGES["invariants.md"](), PAGES["planted-defects.md"]()
    assert [one.name for one in CATALOGUE if f"### {one.name}\n" not in invariants] == []
    assert [name for name in MUTANTS if f"| {name.rpartition('/')[2]} |" not in defects] == []


def test_each_event_has_one_example__in_the_page_and_valid() -> None:
    examples = [example for section in SECTIONS for example in section.examples]
    assert sorted(type(example).__name__ for example in examples) == sorted(EVENT_TYPES)
    assert [decode(encode(example)) for example in examples] == examples
    assert {example.source for example in examples} >= {"harness", "coordinator", "m0"}
    assert all(example.group and example.seq >= 0 for example in examples)


def test_each_invariant_stands_in_the_catalogue_once() -> None:
    names = [invariant.name for invariant in CATALOGUE]
    assert names == list(dict.fromkeys(names))
