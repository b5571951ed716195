"""The option ``--falsify``: a green that no change of the history can break is no green; and how that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rebalance_check.commands._console import Console
from rebalance_check.commands._options import option
from rebalance_check.properties.falsify import Change
from rebalance_check.report.terminal import visible

falsify_option: Final = option(
    "--falsify", "falsifies", is_flag=True,
    help="For each invariant that held, name the least change of the history that breaks it; one that no change "
    "can break is untested.",
)  # fmt: skip


def show_changes(console: Console, changes: Mapping[str, Change]) -> None:
    """Of each invariant that held, the change that breaks it."""
    for name, change in changes.items():
        console.say(f"  held: {name}; broken by {visible(change.text)}: {visible(change.headline)}")


def changes_document(changes: Mapping[str, Change]) -> dict[str, dict[str, str]]:
    """The JSON form, by invariant."""
    return {name: {"change": change.text, "headline": change.headline} for name, change in changes.items()}
