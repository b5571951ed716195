"""From a model and bounds to a program: its functions, the kernel and the generated ones, as LLVM's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from pathlib import Path

from rebalance_check.model.checker.compiler import kernel, llvm
from rebalance_check.model.checker.compiler.built import ENTRY_POINTS
from rebalance_check.model.checker.compiler.functions import Functions, functions_in
from rebalance_check.model.checker.compiler.glue import glue
from rebalance_check.model.checker.compiler.runtime import PROVIDED
from rebalance_check.model.checker.compiler.subset import Source, Vocabulary
from rebalance_check.model.checker.compiler.tree import Function
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

    Raises: SubsetError for what cannot be compiled.
    """
    words = vocabulary(model, bounds)
    functions = Functions(words).all(exports)
    return ProgramText(llvm.module(functions, words.tables, exports), functions)


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
