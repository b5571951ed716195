"""A plugin of pytest for statement_edits.py: the tests run with the edit planted that PLANTED_EDIT names."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulationOptions

_PLANTED = ExitStack()


def pytest_sessionstart() -> None:
    """Plant it before any test is collected."""
    edit = Edit(*json.loads(os.environ["PLANTED_EDIT"]))
    mutant = Mutant(
        name="drawn", what="an edit that was drawn", caught_by="", where="impl",
        find=FuzzSearch(options=SimulationOptions()), edits=(edit,),
    )  # fmt: skip
    _PLANTED.enter_context(planted(mutant))


def pytest_sessionfinish(session: pytest.Session) -> None:  # noqa: ARG001 - the name of pytest's hook
    """Take it away again."""
    _PLANTED.close()
