"""Planting a mutant: for a while the functions that it edits run the edited code, everywhere in this process.

Only code objects are exchanged. Functions stay the same objects, so it does not matter who imported them before, and
objects made meanwhile behave after the end as if nothing had been.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from types import CodeType, FunctionType
from typing import Final

from rebalance_check.impl.mutants.edit import Edit, edited_sources, module_named
from rebalance_check.impl.mutants.mutant import Mutant
from rebalance_check.impl.mutants.registry import find_mutant
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class _Field:
    """The present planting: the mutant, how often it was asked for, and the code that stood there before."""

    mutant: Mutant | None = None
    depth = 0
    before: tuple[tuple[FunctionType, CodeType], ...] = ()


_FIELD: Final = _Field()
_LOCK: Final = Lock()


@contextmanager
def planted(mutant: Mutant | str) -> Iterator[None]:
    """Run the body with ``mutant`` (itself or its name; nothing for an empty name) planted in the implementation.

    Holds for all threads of the process. A mutant may be planted again inside. Raises `RebalanceCheckError` for an
    unknown name, for a mutant of the model, for an edit that does not fit the source, and for a second mutant inside.
    """
    chosen = implementation_mutant(mutant) if isinstance(mutant, str) else mutant
    if chosen is None:
        yield
        return
    _plant(chosen)
    try:
        yield
    finally:
        _remove()


def implementation_mutant(name: str) -> Mutant | None:
    """The mutant of the implementation of that name, None for the empty name.

    Raises `RebalanceCheckError` when there is no such mutant, or when it is one of the model, which no fuzzing finds.
    """
    if not name:
        return None
    mutant = find_mutant(name)
    if mutant.where == "model":
        raise RebalanceCheckError(f"{name!r} is a mutant of the model: find it with '{mutant.command}'")
    return mutant


def _plant(mutant: Mutant) -> None:
    with _LOCK:
        if _FIELD.mutant is None:
            edited = edited_code(mutant)
            _FIELD.before = tuple((function, function.__code__) for function, _ in edited)
            for function, code in edited:
                function.__code__ = code
            _FIELD.mutant = mutant
        elif mutant != _FIELD.mutant:
            raise RebalanceCheckError(
                f"{_FIELD.mutant.name} is planted: plant {mutant.name} when that has ended, one mutant at a time"
            )
        _FIELD.depth += 1


def _remove() -> None:
    with _LOCK:
        _FIELD.depth -= 1
        if _FIELD.depth == 0:
            for function, code in _FIELD.before:
                function.__code__ = code
            _FIELD.mutant, _FIELD.before = None, ()


def edited_code(mutant: Mutant) -> tuple[tuple[FunctionType, CodeType], ...]:
    """Each function that the mutant edits, with the code that it runs while the mutant is planted.

    Raises `RebalanceCheckError` for an edit that does not fit the source.
    """
    return _edited_code(mutant.edits, mutant.name)


@cache
def _edited_code(edits: tuple[Edit, ...], mutant: str) -> tuple[tuple[FunctionType, CodeType], ...]:
    modules = {
        module: compile(source, str(inspect.getsourcefile(module_named(module))), "exec", dont_inherit=True)
        for module, source in edited_sources(edits, mutant).items()
    }
    found = []
    for module, name in dict.fromkeys((edit.module, edit.name) for edit in edits):
        function = _function(module, name)
        code = next(each for each in _codes(modules[module]) if each.co_qualname == name)
        _check(mutant, function, code)
        found.append((function, code))
    return tuple(found)


def _function(module: str, name: str) -> FunctionType:
    """The function itself, behind all its decorators."""
    found: object = module_named(module)
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    if isinstance(found, property):
        found = found.fget
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    found = inspect.unwrap(found) if callable(found) else found
    if not isinstance(found, FunctionType):
        raise RebalanceCheckError(f"{module}:{name} is no function of Python: edit another one")
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a module's functions and of its classes' methods."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _check(mutant: str, function: FunctionType, code: CodeType) -> None:
    """An edit stays within the body: parameters and the variables of enclosing scopes belong to the function object."""
    present = function.__code__
    if _shape(code) != _shape(present):
        raise RebalanceCheckError(
            f"the mutant {mutant} changes the parameters of {function.__qualname__}, or what it takes from around it: "
            "edit its body only"
        )
    if (code.co_code, code.co_consts, code.co_names) == (present.co_code, present.co_consts, present.co_names):
        raise RebalanceCheckError(
            f"the mutant {mutant} changes nothing that {function.__qualname__} runs: edit its body"
        )


def _shape(code: CodeType) -> tuple[object, ...]:
    parameters = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    kind = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR)
    return (*counts, kind, code.co_varnames[:parameters], code.co_freevars)
