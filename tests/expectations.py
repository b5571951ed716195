"""Expected answers that stand in files: scenario files and golden texts, compared, or rewritten with what was seen.

``pytest --update-scenarios`` rewrites them all: those of coordinators, clients, the simulator and the model, and what
the command line prints.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from rebalance_check.impl.scenarios import Scenario, rewritten, scenarios_in

DATA: Final = Path(__file__).parent / "data"
HINT: Final = "pytest --update-scenarios writes what was seen"


@dataclass(frozen=True)
class Expectations:
    """Compares what was seen with what a file expects; with ``update`` the file is rewritten and nothing fails."""

    update: bool = False

    def scenario(self, path: Path, scenario: Scenario, answers: Sequence[str], *, aligned: bool = False) -> None:
        """The answers to the steps of one scenario of a file."""
        if self.update:
            with _locked(path):
                _write(path, rewritten(path.read_text(encoding="utf-8"), scenario, answers, aligned=aligned))
            return
        assert scenario.expected() == scenario.answered(answers), f"{path.name} differs: {HINT}"

    def text(self, path: Path, text: str) -> None:
        """A whole file."""
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, text)
        assert path.is_file(), f"{path.name} is missing: {HINT}"
        assert path.read_text(encoding="utf-8") == text, f"{path.name} differs: {HINT}"


def scenario_files(folder: str) -> Iterator[tuple[Path, Scenario]]:
    """The scenarios of ``tests/data/FOLDER/*.scenario``, each with its file."""
    for path in sorted((DATA / folder).glob("*.scenario")):
        for scenario in scenarios_in(path.read_text(encoding="utf-8"), path.name):
            yield path, scenario


def scenario_parameters(folder: str) -> list[object]:
    """The same as parameters of a test, named ``file: title``."""
    return [pytest.param(path, each, id=f"{path.stem}: {each.title}") for path, each in scenario_files(folder)]


def _write(path: Path, text: str) -> None:
    """Write a file only if that changes it."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Several processes of pytest-xdist may rewrite scenarios of one file."""
    with path.open("r+", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
