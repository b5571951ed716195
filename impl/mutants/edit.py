"""One change of the implementation's text: a function, a piece of its source, and its replacement."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType

from rebalance_check.model.vocabulary.errors import RebalanceCheckError


@dataclass(frozen=True, slots=True)
class Edit:
    """In ``function`` the text ``old``, which occurs there exactly once, becomes ``new``.

    ``function`` is ``module:name`` or ``module:Class.name``. Both texts read as if the function began in column 0, so
    that a method and a function are edited alike. ``new`` imports all names itself that its module does not have.
    """

    function: str
    old: str
    new: str

    @property
    def module(self) -> str:
        """The module of the function."""
        return self.function.partition(":")[0]

    @property
    def name(self) -> str:
        """The function's name in its module, with its class."""
        return self.function.partition(":")[2]


def module_named(name: str) -> ModuleType:
    """The module that an edit names: imported when it is needed, so that the list of mutants loads none of them."""
    return importlib.import_module(name)


def source_of(module: str) -> str:
    """The source text of a module.

    Raises: `RebalanceCheckError` where the package was installed without its sources.
    """
    try:
        return inspect.getsource(module_named(module))
    except OSError as error:
        raise RebalanceCheckError(
            f"the source of {module} is not there, and a mutant is an edit of it: install the package with its sources"
        ) from error


def edited_sources(edits: Iterable[Edit], mutant: str) -> dict[str, str]:
    """The source of each module that the edits of ``mutant`` touch, with all of them applied, by module name.

    Raises `RebalanceCheckError` for an edit whose function is not there, or whose text does not occur exactly once.
    """
    sources: dict[str, str] = {}
    for edit in edits:
        sources[edit.module] = _applied(edit, sources.get(edit.module) or source_of(edit.module), mutant)
    return sources


def _applied(edit: Edit, source: str, mutant: str) -> str:
    lines = source.splitlines(keepends=True)
    first, last = _span(edit, source, mutant)
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    text = textwrap.dedent("".join(lines[first:last]))
    found = text.count(edit.old)
    if found != 1:
        raise RebalanceCheckError(
            f"the mutant {mutant} edits {edit.function} where it reads {edit.old!r}, which occurs there {found} times: "
            "name a text that occurs once"
        )
    return "".join([*lines[:first], textwrap.indent(text.replace(edit.old, edit.new), indent), *lines[last:]])


def _span(edit: Edit, source: str, mutant: str) -> tuple[int, int]:
    """The lines of the function, decorators included, as a slice."""
    body: list[ast.stmt] = ast.parse(source).body
    *classes, function = edit.name.split(".")
    for name in classes:
        body = [node for each in body if isinstance(each, ast.ClassDef) and each.name == name for node in each.body]
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == function]
    if len(found) != 1:
        raise RebalanceCheckError(
            f"the mutant {mutant} edits {edit.function}, which is defined {len(found)} times: name one function"
        )
    start = min([found[0].lineno, *(decorator.lineno for decorator in found[0].decorator_list)])
    return start - 1, found[0].end_lineno or start
