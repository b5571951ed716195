"""Each function of a model compiled and exported alone, to be called on the objects that the interpreter has."""

import ast
import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rebalance_check.model.checker.compiler import engine
from rebalance_check.model.checker.compiler.native import C_TYPES
from rebalance_check.model.checker.compiler.program import Functions, module, vocabulary
from rebalance_check.model.checker.compiler.subset import Function
from rebalance_check.model.checker.compiler.types import Array, Number, Record
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import width
from rebalance_check.model.checker.specification import assemble, sources
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds

BUILDERS = ("Bounds", "tuple", "list", "dict")
"""Functions with such types in their heads make the configuration, and are never compiled."""


@dataclass(frozen=True)
class Outcome:
    """The effect of a call: its result, and the bytes of the states that it was given; or that it was refused."""

    result: int | None
    states: tuple[bytes, ...]
    is_refused: bool = False


class NativeFunctions:
    """The functions of the model of ``bounds``, both ways."""

    def __init__(self, bounds: Bounds) -> None:
        model = model_for(bounds)
        self.address = bounds.address()
        self.machine = Machine(model, bounds)
        self.interpreted = assemble(model)
        self.width = width(model.state, self.machine.sizes)
        self.words = vocabulary(model, bounds)
        self.state = self.words.types["State"]
        functions = Functions(self.words)
        names = [node.name for text in sources(model).values() for node in ast.parse(text).body
                 if isinstance(node, ast.FunctionDef) and not makes_configuration(node)]  # fmt: skip
        whole = functions.all(names)
        self._loaded = engine.Loaded(engine.object_code(module(whole, self.words.tables, names)))
        self._fault = self._loaded.fault()
        self.functions = {each.name: each for each in whole if each.name in names}

    def loops_without_end(self, name: str) -> bool:
        """Whether a function, or one that it calls, may not come back where it is called without sense."""
        tree = self.words.sources[name].tree
        return any(
            isinstance(node, ast.While)
            or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.functions
                and self.loops_without_end(node.func.id))
            for node in ast.walk(tree)
        )  # fmt: skip

    def call_interpreted(self, name: str, arguments: Sequence[Any], states: Sequence[Any]) -> Outcome:
        """Call a function of the model; ``states`` are those that ``arguments`` belong to."""
        given = [self.machine.config if each is CONFIG else each for each in arguments]
        try:
            result = self.interpreted[name](*given)
            return Outcome(None if result is None else int(result), tuple(map(self.machine.pack, states)))
        except (IndexError, AttributeError, ZeroDivisionError):
            return Outcome(None, (), is_refused=True)

    def call_compiled(self, name: str, arguments: Sequence[Any], states: Sequence[bytes]) -> Outcome:
        """The same, where a state is ``(number, offset)``: which of the packed ``states``, and where in it."""
        buffers = [ctypes.create_string_buffer(packed, self.width) for packed in states]
        given = [
            ctypes.addressof(buffers[each[0]]) + each[1] if isinstance(each, tuple) else int(each)
            for each in arguments if each is not CONFIG
        ]  # fmt: skip
        self._fault.value = 0
        result = prototype(self.functions[name])(self._loaded.address(name))(*given)
        if self._fault.value:
            return Outcome(None, (), is_refused=True)
        size = len(self.machine.pack(self.machine.initial()))
        has_result = self.functions[name].result is not None
        return Outcome(int(result) if has_result else None, tuple(buffer.raw[:size] for buffer in buffers))

    def places(self, record: Record) -> list[tuple[int, str]]:
        """Where in a state such records lie, each with the access that reads it."""
        assert isinstance(self.state, Record)
        return [(offset, access) for offset, access, name in places_in(self.state, 0, "") if name == record.name]


CONFIG = object()
"""Stands for the configuration among arguments."""


def places_in(record: Record, offset: int, access: str) -> Iterator[tuple[int, str, str]]:
    """All records in a record, itself included: offset, access, and name of the layout."""
    yield offset, access, record.name
    for name, (at, kind) in record.places.items():
        if name in record.layout.ALIASES:
            continue
        if isinstance(kind, Record):
            yield from places_in(kind, offset + at, f"{access}.{name}")
        elif isinstance(kind, Array) and isinstance(kind.item, Record):
            for index in range(kind.length or 0):
                yield from places_in(kind.item, offset + at + index * kind.stride, f"{access}.{name}[{index}]")


def makes_configuration(node: ast.FunctionDef) -> bool:
    """Whether a function belongs to the bounds and not to the steps."""
    notes = [ast.unparse(each.annotation) for each in node.args.args if each.annotation is not None]
    return any(note.startswith(BUILDERS) for note in [*notes, ast.unparse(node.returns or ast.Constant(None))])


def prototype(function: Function) -> Any:
    """The type of a function for ctypes: what is no number is the address of a record or an array."""
    kinds: list[Any] = [C_TYPES[each.type][0] if isinstance(each.type, Number) else ctypes.c_void_p
                        for each in function.parameters]  # fmt: skip
    result: Any = C_TYPES[function.result][0] if function.result else None
    return ctypes.CFUNCTYPE(result, *kinds)
