"""Shared by the tests of the console: the command line in this process, and golden files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.cli import run
from rebalance_check.model.vocabulary.events import Event
from tests.expectations import Expectations
from tests.two_owners import history_with_two_owners


@dataclass(frozen=True)
class Answer:
    """The words of a command, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        assert self.out.count("\n") == 1, self.out
        document: dict[str, Any] = json.loads(self.out)
        assert document["exit_code"] == self.code
        return document


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Runs ``rebalance-check`` with these arguments."""

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return call


@pytest.fixture
def golden(expectations: Expectations) -> Callable[[str, str], None]:
    """Compares a text with the golden file of that name; with ``--update-scenarios`` the file is rewritten."""
    folder = Path(__file__).parent / "golden"
    return lambda name, text: expectations.text(folder / name, text)


@pytest.fixture
def double_ownership() -> list[Event]:
    """A history in which two members own t-1."""
    return history_with_two_owners()
