"""Rewrites the copies of modules that mypyc compiles, where they read the members of enums.

Compiled code asks the class of an enum for a member by name, each time, and that class has a hook for attributes which
takes ten times as long as the rest. Here each module reads what its functions use once, when it is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

BASES = frozenset({"Enum", "IntEnum", "StrEnum"})

Place = tuple[int, int, int]
"""Line, and the bytes of it from and up to which a name stands."""


class Enums:
    """The enums of a package in ``folder``, by the names that modules give them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, dict[str, frozenset[str]]] = {}

    def visible_in(self, tree: ast.Module) -> dict[str, frozenset[str]]:
        """The members of each enum that a module defines, or imports from where it is defined."""
        found = dict(defined_in(tree))
        for one in tree.body:
            if isinstance(one, ast.ImportFrom) and one.module:
                there = self._of_module(one.module)
                found |= {each.asname or each.name: there[each.name] for each in one.names if each.name in there}
        return found

    def _of_module(self, name: str) -> dict[str, frozenset[str]]:
        if name not in self._known:
            path = self._folder.joinpath(*name.split(".")).with_suffix(".py")
            self._known[name] = dict(defined_in(ast.parse(path.read_text()))) if path.exists() else {}
        return self._known[name]


def defined_in(tree: ast.Module) -> Iterator[tuple[str, frozenset[str]]]:
    """The enums of a module, each with the names of its members."""
    for one in tree.body:
        if isinstance(one, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id in BASES for b in one.bases):
            targets = (each.targets[0] for each in one.body if isinstance(each, ast.Assign))
            yield one.name, frozenset(each.id for each in targets if isinstance(each, ast.Name))


def rewrite(paths: Iterable[Path], folder: Path) -> None:
    """The modules at ``paths``, which belong to the package in ``folder``."""
    enums = Enums(folder)
    for path in paths:
        text = path.read_text()
        path.write_text(rewritten(text, enums.visible_in(ast.parse(text))))


def rewritten(text: str, enums: dict[str, frozenset[str]]) -> str:
    """A module whose functions read the members of ``enums`` from names of their own."""
    tree, lines = ast.parse(text), [line.encode() for line in text.split("\n")]
    names: dict[str, list[str]] = {}
    for enum, member, (line, begin, end) in sorted(uses(tree, enums), key=lambda use: use[2], reverse=True):
        if lines[line][begin:end].decode() == f"{enum}.{member}":
            lines[line] = lines[line][:begin] + own_name(enum, member).encode() + lines[line][end:]
            names.setdefault(enum, []).append(member)
    for line, enum in sorted(((line_behind(tree, enum), enum) for enum in names), reverse=True):
        own = [f"{own_name(enum, member)}: Final = {enum}.{member}" for member in sorted(set(names[enum]))]
        lines.insert(line, "\n".join(["from typing import Final", *own]).encode())
    return b"\n".join(lines).decode()


def own_name(enum: str, member: str) -> str:
    """What a module calls a member."""
    return f"_{enum}_{member}"


def line_behind(tree: ast.Module, enum: str) -> int:
    """The line behind which a module knows an enum."""
    for one in tree.body:
        is_import = isinstance(one, ast.ImportFrom) and any((each.asname or each.name) == enum for each in one.names)
        if is_import or (isinstance(one, ast.ClassDef) and one.name == enum):
            assert one.end_lineno is not None
            return one.end_lineno
    raise LookupError(enum)


def uses(tree: ast.Module, enums: dict[str, frozenset[str]]) -> Iterator[tuple[str, str, Place]]:
    """Where functions read a member: neither in what is read only once, nor in patterns, which want a name and a dot.

    Python does not know the places of what stands in an f-string.
    """
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, is_inside = waiting.pop()
        match node:
            case ast.MatchValue() | ast.JoinedStr():
                continue
            case ast.FunctionDef() | ast.Lambda():
                body = node.body if isinstance(node.body, list) else [node.body]
                waiting += [(each, True) for each in body]
                continue
            case ast.AnnAssign():
                waiting += [(node.value, is_inside)] if node.value is not None else []
                continue
            case ast.Attribute(value=ast.Name(id=enum), attr=member) if is_inside and member in enums.get(enum, ()):
                assert node.end_col_offset is not None
                yield enum, member, (node.lineno - 1, node.col_offset, node.end_col_offset)
        waiting += [(each, is_inside) for each in ast.iter_child_nodes(node)]
