"""A compiled program that Python can call, made now or taken from the cache."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from rebalance_check.model.checker.compiler import cache, engine
from rebalance_check.model.checker.compiler.program import ENTRY_POINTS, kernel_functions, program_text, types
from rebalance_check.model.checker.compiler.statements import NUMBERS, annotation
from rebalance_check.model.checker.compiler.tree import Parameter
from rebalance_check.model.checker.compiler.types import Array, Number
from rebalance_check.model.checker.specification import Model, sources
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

KERNEL_FILES: Final = tuple(sorted(Path(__file__).parent.glob("*.py")))
LAYOUT_FILES: Final = tuple(Path(__file__).parents[1] / name for name in ("layout.py", "layout_source.py"))
"""What decides how a program is made, besides the model."""

C_TYPES: Final = {Number.TRUTH: ctypes.c_bool, Number.INT: ctypes.c_int64, Number.BITS: ctypes.c_uint64}


class Built(NamedTuple):
    """Machine code, and the names of the functions by the numbers that ``@fault`` has."""

    code: bytes
    functions: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """As an entry of the cache."""
        names = json.dumps(self.functions).encode()
        return len(names).to_bytes(4, "little") + names + self.code

    @classmethod
    def from_bytes(cls, data: bytes) -> Built:
        """An entry of the cache."""
        end = 4 + int.from_bytes(data[:4], "little")
        return cls(data[end:], tuple(json.loads(data[4:end])))


class Program:
    """The compiled entry points of a model at given bounds.

    They are those of `kernel`; an array is given as what NumPy has.

    Raises: SubsetError where the model cannot be compiled.
    """

    def __init__(self, model: Model, bounds: Bounds) -> None:
        key = cache.key_of(made_from(model, bounds, engine.description()))
        stored = cache.load(key)
        self.was_cached = stored is not None
        if stored is None:
            text = program_text(model, bounds)
            built = Built(engine.object_code(text.text), tuple(each.name for each in text.functions))
            cache.keep(key, built.to_bytes())
        else:
            built = Built.from_bytes(stored)
        self._functions = built.functions
        self._loaded = engine.Loaded(built.code)
        self._fault = self._loaded.fault()
        known = kernel_functions()
        kinds = types(model, bounds, model.sizes(bounds))
        self.begin, self.level, self.expand, self.absorb, self.rehash, self.fingerprints, self.survey = (
            Entry(self._loaded.address(name), parameters_of(known[name].tree.args.args, kinds)) for name in ENTRY_POINTS
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

    def __init__(self, address: int, parameters: Sequence[Parameter]) -> None:
        kinds = list[Any]()
        self._lengths = list[bool | None]()
        for parameter in parameters:
            if isinstance(parameter.type, Number):
                kinds.append(C_TYPES[parameter.type])
                self._lengths.append(None)
                continue
            has_length = isinstance(parameter.type, Array) and parameter.type.length is None
            kinds += [ctypes.c_void_p] + [ctypes.c_int64] * has_length
            self._lengths.append(has_length)
        self._function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address)

    def __call__(self, *arguments: Any) -> int:
        """Call it; what a function without a result returns means nothing."""
        return int(self._function(*self.given(arguments)))

    def given(self, arguments: Sequence[Any]) -> list[Any]:
        """The arguments as C has them."""
        made = list[Any]()
        for has_length, argument in zip(self._lengths, arguments, strict=True):
            if has_length is None:
                made.append(argument)
            else:
                made.append(argument.ctypes.data)
                made += [len(argument)] * has_length
        return made


def made_from(model: Model, bounds: Bounds, machine: str) -> list[str]:
    """Everything that a program is made from."""
    texts = [path.read_text(encoding="utf-8") for path in (*KERNEL_FILES, *LAYOUT_FILES)]
    return [*sources(model).values(), *texts, repr(model.configure(bounds)), repr(model.sizes(bounds)), machine]


def parameters_of(arguments: Sequence[Any], kinds: Any) -> list[Parameter]:
    """The parameters of an entry point, the configuration left out."""
    named = [(each.arg, annotation(each.annotation)) for each in arguments]
    return [Parameter(name, NUMBERS.get(note) or kinds[note]) for name, note in named if note != "Config"]
