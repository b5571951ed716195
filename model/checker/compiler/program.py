"""From a model and bounds to a program: its functions, the kernel and the generated ones, as LLVM's text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from pathlib import Path

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.built import ENTRY_POINTS
from rebalance_check.model.checker.compiler.glue import glue
from rebalance_check.model.checker.compiler.instructions import REGISTER
from rebalance_check.model.checker.compiler.runtime import PROVIDED, RUNTIME
from rebalance_check.model.checker.compiler.statements import FunctionCompiler
from rebalance_check.model.checker.compiler.subset import Function, Source, SubsetError, Vocabulary
from rebalance_check.model.checker.compiler.types import Array, Cell, Number, Record, record_of, rows_of
from rebalance_check.model.checker.layout import SYMMETRIC, Sizes, nested
from rebalance_check.model.checker.layout_source import helper_source
from rebalance_check.model.checker.specification import EACH, Model, assemble, each_of, source_file, sources
from rebalance_check.model.vocabulary.bounds import Bounds


@dataclass(frozen=True, slots=True)
class ProgramText:
    """A program: the text for LLVM, and its functions by number, which ``@fault`` names."""

    text: str
    functions: Sequence[Function]


def program_text(model: Model, bounds: Bounds, exports: Sequence[str] = ENTRY_POINTS) -> ProgramText:
    """The program of a model at these bounds.

    Raises: SubsetError for code that cannot be compiled.
    """
    words = vocabulary(model, bounds)
    functions = Functions(words).all(exports)
    return ProgramText(module(functions, words.tables, exports), functions)


class Functions:
    """Compiles functions once each, callees first."""

    def __init__(self, words: Vocabulary) -> None:
        self.words = words
        self.whole: list[Function] = []

    def named(self, name: str) -> Function:
        """A function, whole.

        Raises `SubsetError` when it calls itself, or cannot be compiled.
        """
        known = self.words.functions.get(name)
        if known is None:
            compiler = FunctionCompiler(self.words, self.words.sources[name], self.named)
            known = self.words.functions[name] = compiler.function
            self.whole.append(compiler.compile())
        elif known.lines is None:
            source = self.words.sources[name]
            raise SubsetError(source, source.tree, "it calls itself", "write a loop")
        return known

    def all(self, names: Iterable[str]) -> list[Function]:
        """The functions of these names and all that they call, callees first."""
        for name in names:
            self.named(name)
        return self.whole


def functions_in(text: str, file: str) -> dict[str, Source]:
    """The functions that a source text defines, by name."""
    return {node.name: Source(file, node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def module(functions: Iterable[Function], tables: Mapping[str, Sequence[int]], exports: Iterable[str]) -> str:
    """The text of a program: its tables, and its functions, of which ``exports`` can be called from outside.

    Functions must be whole; each stands in ``@fault`` with its place in ``functions``, from 1.
    """
    public, texts = set(exports), [RUNTIME, *(_table(name, values) for name, values in tables.items())]
    for at, one in enumerate(functions, 1):
        result = REGISTER[one.result] if one.result else "void"
        text = f"define {'' if one.name in public else 'internal '}{result} " + "\n".join(one.lines or ())
        texts.append(text.replace("i32 FAULT", f"i32 {at}"))
    return "\n".join(texts)


def _table(name: str, values: Sequence[int]) -> str:
    written = ", ".join(f"i32 {value}" for value in values or (0,))
    return f"@t.{name} = internal unnamed_addr constant [{max(len(values), 1)} x i32] [{written}]"


def vocabulary(model: Model, bounds: Bounds) -> Vocabulary:
    """All that the functions of a program know."""
    sizes = model.sizes(bounds)
    known = {**vars(kernel), **assemble(model)}
    return Vocabulary(
        sources=all_sources(model, bounds),
        globals=known,
        config=model.configure(bounds)._asdict(),
        types=types(model, bounds, sizes),
        functions={each.name: each for each in PROVIDED},
    )


def all_sources(model: Model, bounds: Bounds) -> dict[str, Source]:
    """The functions of the model, the generated ones, and the kernel's."""
    found, sizes = dict[str, Source](), model.sizes(bounds)
    for name, text in sources(model).items():
        found |= functions_in(text, source_file(name))
    found |= functions_in(helper_source(model.state, sizes) + glue(model, bounds), f"<generated for {model.name}>")
    return found | kernel_functions()


def kernel_functions() -> dict[str, Source]:
    """The functions of the kernel."""
    return functions_in(Path(kernel.__file__).read_text(encoding="utf-8"), kernel.__file__)


def types(model: Model, bounds: Bounds, sizes: Sizes) -> Mapping[str, Number | Record | Array]:
    """The types by the names that annotations have: the layouts, and the arrays of the kernel."""
    members = sizes.get(SYMMETRIC, 0)
    count = factorial(members)
    state = record_of(model.state, sizes)
    numbers, permutation, sets = _numbers(None), _numbers(max(members, 1)), _numbers(1 << members)
    properties = max(instances(model, bounds), 1)
    return {
        **{name: record_of(each, sizes) for name, each in nested(model.state).items()},
        "State": state,
        "States": rows_of(state, model.state, sizes),
        "Hashes": Array(Cell.U64, Cell.U64.bytes, None),
        "Numbers": numbers,
        "Labels": Array(Cell.U32, Cell.U32.bytes, None),
        "Signatures": permutation,
        "Permutation": permutation,
        "Permutations": _rows(permutation, count),
        "Sets": sets,
        "AllSets": _rows(sets, count),
        "Achieved": _rows(Array(Cell.U8, 1, properties), None),
    }


def instances(model: Model, bounds: Bounds) -> int:
    """How many liveness properties there are, each counted once for each that it is about."""
    return sum(int(getattr(bounds, EACH[each])) if (each := each_of(one.holds)) else 1 for one in model.liveness)


def _numbers(length: int | None) -> Array:
    return Array(Cell.I64, Cell.I64.bytes, length)


def _rows(item: Array, length: int | None) -> Array:
    return Array(item, item.stride * (item.length or 1), length)
