"""Random one-place edits of the implementation's source, drawn from a seed.

They measure how many defects the claims catch that their authors did not have in mind.
"""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, Final

from rebalance_check.impl.mutants.edit import Edit, module_named, source_of
from rebalance_check.impl.mutants.edit_sites import EditKind, Site, Surroundings, sites_of
from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.mutants.planting import edited_code
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

IMPL: Final = "rebalance_check.impl"
EDITED_PACKAGES: Final = ("coordinator", "client", "assignors", "connect", "protocol")
"""The packages of the implementation that are edited; the others are the harness that runs them."""


@dataclass(frozen=True, slots=True)
class RandomEdit:
    """An edit that was drawn: ``number`` of its seed's order, its kind, and the line of its module where it stands.

    ``first`` and ``last`` are the lines of the statement around it: where none of them runs, the edit changes nothing.
    """

    number: int
    kind: EditKind
    edit: Edit
    line: int
    first: int
    last: int

    @property
    def package(self) -> str:
        """The package of the implementation that it edits."""
        return self.edit.module.removeprefix(f"{IMPL}.").partition(".")[0]

    @property
    def path(self) -> str:
        """The file that it edits, from the top of the project."""
        return self.edit.module.removeprefix("rebalance_check.").replace(".", "/") + ".py"

    @property
    def mutant(self) -> Mutant:
        """The edit as a mutant, which can be planted; no claim is named to catch it."""
        return Mutant(
            name=f"random-{self.number}", what=f"{self.kind} in {self.edit.name}", caught_by="", where="impl",
            find=FuzzSearch(options=SimulationOptions()), edits=(self.edit,),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Place:
    """A site in its function, whose text is ``lines`` without the ``margin`` that it is indented by."""

    function: str
    site: Site
    start: int
    margin: int
    lines: Sequence[str]


def draw_edits(count: int, seed: int, packages: Sequence[str] = EDITED_PACKAGES) -> list[RandomEdit]:
    """The first ``count`` edits in the order of ``seed``, all of them where there are fewer; every site of the source
    comes once, and each is as likely as the others.

    A pure function of the source and the seed: a larger ``count`` begins with the same edits.
    Raises: RebalanceCheckError for a package that is none of `EDITED_PACKAGES`, or without its sources.
    """
    random = stream(seed, "random edits")
    places = [place for package in packages for module in modules_of(package) for place in _places(module)]
    random.shuffle(places)
    found: list[RandomEdit] = []
    for place in places:
        if len(found) == count:
            break
        edit = _edit_at(place, random.choice(place.site.texts))
        if edit is not None:
            lines = (place.site.span.line, place.site.first, place.site.last)
            found.append(RandomEdit(len(found), place.site.kind, edit, *lines))
    return found


def draw_edit_of(function: str, random: Random) -> RandomEdit | None:
    """An edit of one function, ``module:name`` or ``module:Class.name`` of the implementation; None where none fits."""
    module = function.partition(":")[0]
    places = [place for place in _places(module) if place.function == function]
    random.shuffle(places)
    for place in places:
        edit = _edit_at(place, random.choice(place.site.texts))
        if edit is not None:
            return RandomEdit(0, place.site.kind, edit, place.site.span.line, place.site.first, place.site.last)
    return None


def modules_of(package: str) -> list[str]:
    """The names of a package's modules, sorted.

    Raises: RebalanceCheckError for one that is none of `EDITED_PACKAGES`.
    """
    if package not in EDITED_PACKAGES:
        raise RebalanceCheckError(f"{package!r} is no package that is edited: choose from {', '.join(EDITED_PACKAGES)}")
    name = f"{IMPL}.{package}"
    names = {one.name for one in pkgutil.walk_packages(module_named(name).__path__, f"{name}.")}
    return sorted(names)


def _places(module: str) -> Iterator[_Place]:
    """The sites of all functions of a module that can be edited by name."""
    source = source_of(module)
    lines = source.splitlines()
    for name, function, fields in _functions(ast.parse(source).body, ""):
        start = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
        text = lines[start - 1 : function.end_lineno]
        margin = function.col_offset
        if all(line[:margin].isspace() or not line[:margin] for line in text):
            names = vars(module_named(module))
            around = Surroundings(names, fields, _parameters_of(function), partial(_segment, lines))
            bare = [line[margin:] for line in text]
            yield from (_Place(f"{module}:{name}", site, start, margin, bare) for site in sites_of(function, around))


def _functions(
    body: Sequence[ast.stmt], prefix: str, fields: Mapping[str, str] | None = None
) -> Iterator[tuple[str, ast.FunctionDef, Mapping[str, str]]]:
    """Each function that is defined once, with its name and the annotated fields of its class."""
    names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.", _fields_of(node))
        elif isinstance(node, ast.FunctionDef) and names.count(node.name) == 1:
            yield f"{prefix}{node.name}", node, fields or {}


def _fields_of(node: ast.ClassDef) -> dict[str, str]:
    """The annotated names of a class, and those that its ``__init__`` annotates."""
    annotated = [*node.body, *(each for one in node.body if _is_init(one) for each in ast.walk(one))]
    found: dict[str, str] = {}
    for each in annotated:
        match each:
            case ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name), annotation=annotation):
                found[name] = ast.unparse(annotation)
            case _:
                pass
    return found


def _parameters_of(function: ast.FunctionDef) -> dict[str, str]:
    parameters = [*function.args.args, *function.args.kwonlyargs]
    return {one.arg: ast.unparse(one.annotation) for one in parameters if one.annotation is not None}


def _is_init(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "__init__"


def _segment(lines: Sequence[str], node: Any) -> str:
    """The text of a node on one line."""
    taken = list(lines[node.lineno - 1 : node.end_lineno])
    taken[-1] = _octets(taken[-1], 0, node.end_col_offset)
    taken[0] = _octets(taken[0], node.col_offset)
    return " ".join(line.strip() for line in taken)


def _octets(line: str, first: int, last: int | None = None) -> str:
    return line.encode()[first:last].decode()


def _edit_at(place: _Place, text: str) -> Edit | None:
    """The edit that puts ``text`` there; None where the result is no Python, or runs as before.

    The old text is the lines around the site, as many as make it unique.
    """
    span, margin = place.site.span, place.margin
    first, last = span.line - place.start, span.end_line - place.start
    before = _octets(place.lines[first], 0, span.column - margin)
    after = _octets(place.lines[last], span.end_column - margin)
    edit = _unique(place, (first, last), f"{before}{text}{after}")
    if edit is None:
        return None
    try:
        edited_code(RandomEdit(0, place.site.kind, edit, 0, 0, 0).mutant)
    except (RebalanceCheckError, SyntaxError):
        return None
    return edit


def _unique(place: _Place, changed: tuple[int, int], text: str) -> Edit | None:
    """The edit of the lines from ``changed[0]`` to ``changed[1]``, with as many lines around as it takes."""
    whole = "\n".join(place.lines)
    for more in range(len(place.lines)):
        first, last = max(0, changed[0] - more), min(len(place.lines) - 1, changed[1] + more)
        old = "\n".join(place.lines[first : last + 1])
        new = "\n".join([*place.lines[first : changed[0]], text, *place.lines[changed[1] + 1 : last + 1]])
        indent = len(old) - len(old.lstrip())
        if whole.count(old[indent:]) == 1 and new[:indent].isspace() == bool(indent):
            return Edit(place.function, old[indent:], new[indent:])
    return None
