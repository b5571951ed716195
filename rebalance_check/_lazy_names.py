"""Public names, imported when they are used: the stub of ``__init__.py`` says which module each comes from."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any


def modules_of_names() -> Mapping[str, str]:
    """For each name that the stub imports the module that defines it."""
    stub = ast.parse(files("rebalance_check").joinpath("__init__.pyi").read_text(encoding="utf-8"))
    imports = [statement for statement in stub.body if isinstance(statement, ast.ImportFrom)]
    return {alias.name: str(statement.module) for statement in imports for alias in statement.names}


def imported(module: str, name: str) -> Any:
    """The value of ``name`` in ``module``; a name that is a module there is that module."""
    found = importlib.import_module(module)
    return getattr(found, name) if hasattr(found, name) else importlib.import_module(f"{module}.{name}")
