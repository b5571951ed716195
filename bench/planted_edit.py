"""A plugin of pytest for statement_edits.py: the tests run with the edit planted that PLANTED_EDIT names."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.mutants.random_edits import RandomEdit

_PLANTED = ExitStack()


def pytest_sessionstart() -> None:
    """Plant it before any test is collected."""
    kind, *edit = json.loads(os.environ["PLANTED_EDIT"])
    drawn = RandomEdit(number=0, kind=kind, edit=Edit(*edit), line=0, first=0, last=0)
    _PLANTED.enter_context(planted(drawn.mutant))


def pytest_sessionfinish(session: pytest.Session) -> None:  # noqa: ARG001 - the name of pytest's hook
    """Take it away again."""
    _PLANTED.close()
