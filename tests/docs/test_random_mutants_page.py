"""The page about random edits has every edit that is known to be harmless, with its reason, and every kind."""

from pathlib import Path

from rebalance_check.impl.mutants.edit_sites import EDIT_KINDS
from rebalance_check.impl.mutants.harmless_edits import HARMLESS_EDITS

PAGE = (Path(__file__).parents[2] / "docs" / "random-mutants.md").read_text(encoding="utf-8")


def test_the_page_has_every_known_edit_with_its_reason() -> None:
    for one in HARMLESS_EDITS:
        row = f"| `{one.edit.function.removeprefix('rebalance_check.impl.')}` | {one.why} | {one.reason} |"
        assert row in PAGE, row


def test_the_page_has_every_kind_of_edit() -> None:
    assert [kind for kind in EDIT_KINDS if f"| {kind} | " not in PAGE] == []
