"""The page about random edits has every kind of edit."""

from pathlib import Path

from rebalance_check.impl.mutants.edit_sites import EDIT_KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "random-mutants.md").read_text(encoding="utf-8")


def test_the_page_has_every_kind_of_edit() -> None:
    assert [kind for kind in EDIT_KINDS if f"| {kind} | " not in PAGE] == []
