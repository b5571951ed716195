"""Collects the functions of a program: those that are asked for, and all that they call."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rebalance_check.model.checker.compiler.statements import FunctionReader
from rebalance_check.model.checker.compiler.subset import Source, SubsetError, Vocabulary
from rebalance_check.model.checker.compiler.tree import Function


def functions_in(text: str, file: str) -> dict[str, Source]:
    """The functions that a source text defines, by name."""
    return {node.name: Source(file, node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


class Functions:
    """Reads functions once each, callees first."""

    def __init__(self, words: Vocabulary) -> None:
        self.words = words
        self.whole: list[Function] = []

    def named(self, name: str) -> Function:
        """A function, whole.

        Raises `SubsetError` when it calls itself, or cannot be compiled.
        """
        known = self.words.functions.get(name)
        if known is None:
            reader = FunctionReader(self.words, self.words.sources[name], self.named)
            known = self.words.functions[name] = reader.function
            self.whole.append(reader.read())
        elif known.body is None:
            source = self.words.sources[name]
            raise SubsetError(source, source.tree, "it calls itself", "write a loop")
        return known

    def all(self, names: Iterable[str]) -> list[Function]:
        """The functions of these names and all that they call, callees first."""
        for name in names:
            self.named(name)
        return self.whole
