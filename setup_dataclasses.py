"""Rewrites the copies of modules that mypyc compiles, where Python's dataclasses leave it slow.

The ``__init__`` that the decorator makes is interpreted, also in compiled code, and a frozen class writes each field
by a call. Here each dataclass gets one that is written out, which mypyc compiles. Of its source nothing else changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FUTURE = "from __future__ import annotations\n"
PLAIN_BASES = ("ABC", "Generic", "Protocol")


class NotWrittenOutError(Exception):
    """The class keeps the ``__init__`` that its decorator makes."""


@dataclass(slots=True)
class Field:
    """A field, by the texts of its source; ``factory`` makes its default, ``module`` is that of its class."""

    name: str
    hint: str
    module: str
    is_keyword: bool
    default: str = ""
    factory: str = ""
    is_given: bool = True

    @property
    def parameter(self) -> str:
        """What ``__init__`` takes."""
        if self.factory:
            return f"{self.name}: {self.hint} | None = None"
        return f"{self.name}: {self.hint}" + (f" = {self.default}" if self.default else "")

    @property
    def value(self) -> str:
        """What ``__init__`` stores; empty where that is left to others."""
        made = {"list": "[]", "dict": "{}"}.get(self.factory, f"({self.factory})()") if self.factory else self.default
        if not self.is_given:
            return made
        return f"{made} if {self.name} is None else {self.name}" if self.factory else self.name


class Source:
    """A module: its text, its classes, and what its names stand for."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path, self.text = name, path, path.read_text()
        tree = ast.parse(self.text)
        self.classes = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
        self.imported = {
            alias.asname or alias.name: (one.module, alias.name)
            for one in ast.walk(tree)
            if isinstance(one, ast.ImportFrom) and one.module
            for alias in one.names
        }
        self.own = {*self.classes, *(one.name for one in tree.body if isinstance(one, ast.FunctionDef))}
        for one in tree.body:
            match one:
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                    self.own.add(name)
                case ast.Import(names=names):
                    self.own |= {alias.asname or alias.name for alias in names}

    def origin(self, name: str) -> tuple[str, str] | None:
        """The module that a name comes from, and what it is called there; None for a name of Python's own."""
        return self.imported.get(name) or ((self.name, name) if name in self.own else None)


class Rewriter:
    """Rewrites the modules at ``paths``, by their names."""

    def __init__(self, paths: dict[str, Path]) -> None:
        self.sources = {name: Source(name, path) for name, path in paths.items()}

    def rewrite(self) -> None:
        """All of them."""
        for source in self.sources.values():
            self._rewrite(source)

    def _rewrite(self, source: Source) -> None:
        lines, imports = source.text.split("\n"), set[tuple[str, str]]()
        for one in sorted(source.classes.values(), key=lambda one: -one.lineno):
            for name in own_needs(one):
                lines[name.lineno - 1] = lines[name.lineno - 1].replace("needs = ", "needs: ClassVar[Any] = ", 1)
                imports |= {("typing", "Any"), ("typing", "ClassVar")}
            if source.name.startswith("rebalance_check.model.") and options_of(one) is not None:
                lines.insert(end_of(one), hints_again(one))
            try:
                written = self._init(source, one, imports)
            except NotWrittenOutError:
                continue
            lines.insert(end_of(one), f"\n{written}\n")
            for decorator in one.decorator_list:
                if named(decorator) == "dataclass":
                    lines[decorator.lineno - 1] = without_init(decorator)
        new = "".join(f"from {module} import {name}\n" for module, name in sorted(imports))
        source.path.write_text("\n".join(lines).replace(FUTURE, FUTURE + new, 1))

    def _init(self, source: Source, one: ast.ClassDef, imports: set[tuple[str, str]]) -> str:
        if options_of(one) is None or "__init__" in methods(one):
            raise NotWrittenOutError
        fields = list(self._fields(source, one).values())
        given = [field for field in fields if field.is_given]
        if not given:
            raise NotWrittenOutError
        imports |= {need for field in fields if field.module != source.name for need in self._needs(source, field)}
        by_name = [field.parameter for field in given if field.is_keyword]
        parameters = ["self", *(field.parameter for field in given if not field.is_keyword)]
        parameters += ["*", *by_name] if by_name else []
        lines = [f"    def __init__({', '.join(parameters)}) -> None:"]
        # The line that is written says misc: the field of a frozen class is set in its own __init__ alone.
        lines += [f"        self.{field.name} = {field.value}  # type: ignore[misc]" for field in fields if field.value]
        if any("__post_init__" in methods(each) for _, each in self._line(source, one)):
            lines.append("        self.__post_init__()")
        return "\n".join(lines)

    def _line(self, source: Source, one: ast.ClassDef) -> Iterator[tuple[Source, ast.ClassDef]]:
        """A class and those that it extends, each with its module."""
        yield source, one
        for base in one.bases:
            name = named(base)
            if name in PLAIN_BASES:
                continue
            module, known_as = source.origin(name) or ("", "")
            if module not in self.sources or known_as not in self.sources[module].classes:
                raise NotWrittenOutError
            yield from self._line(self.sources[module], self.sources[module].classes[known_as])

    def _fields(self, source: Source, one: ast.ClassDef) -> dict[str, Field]:
        found: dict[str, Field] = {}
        for module, each in reversed(list(self._line(source, one))):
            if (options := options_of(each)) is not None:
                for field in own_fields(each):
                    read = read_field(field, module.name, is_keyword="kw_only=True" in options)
                    found[read.name] = read
        return found

    def _needs(self, source: Source, field: Field) -> Iterator[tuple[str, str]]:
        """What must be imported for a field of another module."""
        there = self.sources[field.module]
        for text in filter(None, (field.hint, field.default, field.factory)):
            for node in ast.walk(ast.parse(text, mode="eval")):
                origin = there.origin(node.id) if isinstance(node, ast.Name) else None
                if isinstance(node, ast.Name) and origin is not None:
                    if source.origin(node.id) not in (None, origin) or origin[1] != node.id:
                        raise NotWrittenOutError
                    yield origin


def named(node: ast.expr) -> str:
    """The name that a decorator or a base has, whatever it is given."""
    inner = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
    return inner.id if isinstance(inner, ast.Name) else ""


def options_of(one: ast.ClassDef) -> list[str] | None:
    """What the decorator of a dataclass is given; None for another class."""
    for decorator in one.decorator_list:
        if named(decorator) == "dataclass":
            return [ast.unparse(word) for word in decorator.keywords] if isinstance(decorator, ast.Call) else []
    return None


def without_init(decorator: ast.expr) -> str:
    """The decorator of a class that has an ``__init__``, and slots as all compiled classes do."""
    words = decorator.keywords if isinstance(decorator, ast.Call) else []
    return f"@dataclass({', '.join([*(ast.unparse(word) for word in words if word.arg != 'slots'), 'init=False'])})"


def methods(one: ast.ClassDef) -> set[str]:
    """The names of a class's own methods."""
    return {each.name for each in one.body if isinstance(each, ast.FunctionDef)}


def own_fields(one: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    """The fields that a dataclass adds."""
    for each in one.body:
        if isinstance(each, ast.AnnAssign) and not ast.unparse(each.annotation).startswith("ClassVar"):
            yield each


def own_needs(one: ast.ClassDef) -> Iterator[ast.Assign]:
    """What a fold says that it needs: it belongs to its class, as Python takes it, and mypyc does not."""
    for each in one.body:
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "needs":
            yield each


def end_of(one: ast.ClassDef) -> int:
    """The number of lines up to the end of a class."""
    assert one.end_lineno is not None
    return one.end_lineno


def read_field(field: ast.AnnAssign, module: str, *, is_keyword: bool) -> Field:
    """One field of a dataclass.

    Raises: NotWrittenOutError where it is given what nothing here understands.
    """
    found = Field(ast.unparse(field.target), ast.unparse(field.annotation), module, is_keyword)
    if not isinstance(field.value, ast.Call) or named(field.value) != "field":
        found.default = "" if field.value is None else ast.unparse(field.value)
        return found
    for word in field.value.keywords:
        match word.arg, ast.unparse(word.value):
            case "default", text:
                found.default = text
            case "default_factory", text:
                found.factory = text
            case "init", text:
                found.is_given = text == "True"
            case (("repr" | "compare" | "hash"), _):
                pass
            case _:
                raise NotWrittenOutError
    return found


def hints_again(one: ast.ClassDef) -> str:
    """The types of a class's fields as they stand: mypyc keeps ``tuple`` of ``tuple[str, ...]``."""
    hints = {ast.unparse(field.target): ast.unparse(field.annotation) for field in own_fields(one)}
    return f"\n\ntype.__setattr__({one.name}, '__annotations__', {hints!r})"
