"""A compiled program that Python can call, made now or taken from the cache."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rebalance_check.model.checker.compiler import cache, engine
from rebalance_check.model.checker.compiler.built import ARRAY, COUNTED, ENTRY_POINTS, Built, kind_of
from rebalance_check.model.checker.compiler.types import Number
from rebalance_check.model.checker.specification import Model, sources
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

COMPILER_FILES: Final = tuple(sorted(Path(__file__).parent.glob("*.py")))
LAYOUT_FILES: Final = tuple(Path(__file__).parents[1] / name for name in ("layout.py", "layout_source.py"))
"""The sources that decide how a program is made, besides the model."""

C_TYPES: Final[Mapping[str, Sequence[Any]]] = {
    Number.TRUTH: [ctypes.c_bool],
    Number.INT: [ctypes.c_int64],
    Number.BITS: [ctypes.c_uint64],
    ARRAY: [ctypes.c_void_p],
    COUNTED: [ctypes.c_void_p, ctypes.c_int64],
}
"""The types that C is given for a parameter."""


class Program:
    """The compiled entry points of a model at given bounds.

    They are those of `kernel`; an array is given as NumPy's.

    Raises: SubsetError where the model cannot be compiled.
    """

    def __init__(self, model: Model, bounds: Bounds) -> None:
        key = cache.key_of(made_from(model, bounds, engine.description()))
        stored = cache.load(key)
        self.was_cached = stored is not None
        if stored is None:
            built = build(model, bounds)
            cache.keep(key, built.to_bytes())
        else:
            built = Built.from_bytes(stored)
        self._functions = built.functions
        self._loaded = engine.Loaded(built.code)
        self._fault = self._loaded.fault()
        self.begin, self.expand, self.absorb, self.rehash, self.survey = (
            Entry(self._loaded.address(name), built.entries[name]) for name in ENTRY_POINTS
        )

    def require_no_fault(self) -> None:
        """Check that no index was beyond its array, and no record used that is absent.

        Raises: RebalanceCheckError that names the function.
        """
        if self._fault.value:
            name = self._functions[self._fault.value - 1]
            raise RebalanceCheckError(
                f"{name} of the compiled model uses what is not there (an index beyond its list, a divisor of 0, or an "
                "absent field): explore interpreted to see the line"
            )


class Entry:
    """A compiled function. Its arguments are numbers and NumPy arrays, which must stay where they are meanwhile."""

    def __init__(self, address: int, parameters: Sequence[str]) -> None:
        self._parameters = parameters
        kinds = [kind for each in parameters for kind in C_TYPES[each]]
        self._function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address)

    def __call__(self, *arguments: Any) -> int:
        """Call it; the value from a function without a result means nothing."""
        return int(self._function(*self.given(arguments)))

    def given(self, arguments: Sequence[Any]) -> list[Any]:
        """The arguments as C has them."""
        made = list[Any]()
        for parameter, argument in zip(self._parameters, arguments, strict=True):
            if parameter == ARRAY:
                made.append(argument.ctypes.data)
            elif parameter == COUNTED:
                made += [argument.ctypes.data, len(argument)]
            else:
                made.append(argument)
        return made


def build(model: Model, bounds: Bounds) -> Built:
    """A program compiled now; its needs are imported here, since a search mostly finds its program."""
    from rebalance_check.model.checker.compiler import program  # noqa: PLC0415 - only a new program needs it

    text = program.program_text(model, bounds)
    functions = {each.name: each for each in text.functions}
    entries = {name: [kind_of(each) for each in functions[name].parameters] for name in ENTRY_POINTS}
    return Built(tuple(functions), entries, engine.object_code(text.text))


def made_from(model: Model, bounds: Bounds, machine: str) -> list[str]:
    """Everything that a program is made from."""
    texts = [path.read_text(encoding="utf-8") for path in (*COMPILER_FILES, *LAYOUT_FILES)]
    return [*sources(model).values(), *texts, repr(model.configure(bounds)), repr(model.sizes(bounds)), machine]
