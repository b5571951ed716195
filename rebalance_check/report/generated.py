"""The pages that the code makes, none of which is committed: ``python -m rebalance_check.report.generated FOLDER``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from rebalance_check.impl.mutants import MUTANTS
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.schema import schema_text
from rebalance_check.report.catalogue_page import catalogue_markdown
from rebalance_check.report.events_page import events_markdown
from rebalance_check.report.field_bugs_page import field_bugs_markdown
from rebalance_check.report.mutants_page import mutants_markdown

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "invariants.md": lambda: catalogue_markdown(CATALOGUE),
    "events.md": events_markdown,
    "history.schema.json": schema_text,
    "planted-defects.md": lambda: mutants_markdown(MUTANTS.values()),
    "field-bugs.md": lambda: field_bugs_markdown(MUTANTS.values()),
}
"""By the name of its file, the text of each page."""


def write_pages(folder: Path) -> list[Path]:
    """Write all pages into a folder, which is made where it is not there; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / name for name in PAGES]
    for file in files:
        file.write_text(PAGES[file.name](), encoding="utf-8")
    return files


if __name__ == "__main__":
    for written in write_pages(Path(sys.argv[1])):
        print(written)
