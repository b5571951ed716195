"""Two ways from trees to machine code, LLVM's and that of a compiler of C, and how Python calls one function of it."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.model.checker.compiler import engine, llvm
from rebalance_check.model.checker.compiler.native import C_TYPES
from rebalance_check.model.checker.compiler.tree import Function
from rebalance_check.model.checker.compiler.types import Number
from tests.model import c_writer

BACKENDS = ("LLVM", "C")


class CLibrary:
    """A program compiled by the compiler of C, as `engine.Loaded` has one compiled by LLVM."""

    def __init__(self, code: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.so"
            path.write_bytes(code)
            self._library = ctypes.CDLL(str(path))

    def address(self, name: str) -> int:
        """Where a function is."""
        return ctypes.cast(self._library[name], ctypes.c_void_p).value or 0

    def fault(self) -> ctypes.c_int32:
        """The number of the function in which something was wrong."""
        return ctypes.c_int32.in_dll(self._library, "fault")


def code_of(text: str) -> bytes:
    """A library of a text in C; a test is skipped where there is no compiler (`--no-skip` makes that a failure)."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler of C is installed: install cc (gcc or clang)")
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "program.c", Path(folder) / "program.so"
        source.write_text(text, encoding="utf-8")
        options = ["-O1", "-fwrapv", "-fno-strict-aliasing", "-w", "-shared", "-fPIC"]
        subprocess.run([compiler, *options, "-o", str(made), str(source)], check=True, timeout=300)
        return made.read_bytes()


Loaded = engine.Loaded | CLibrary


def loaded(
    backend: str, functions: Sequence[Function], tables: Mapping[str, Sequence[int]], exports: Sequence[str]
) -> Loaded:
    """A program, compiled by LLVM or by the compiler of C."""
    if backend == "C":
        return CLibrary(code_of(c_writer.module(functions, tables, exports)))
    return engine.Loaded(engine.object_code(llvm.module(functions, tables, exports)))


def prototype(function: Function) -> Any:
    """The type of a function for ctypes: what is no number is the address of a record or an array."""
    kinds: list[Any] = [C_TYPES[each.type][0] if isinstance(each.type, Number) else ctypes.c_void_p
                        for each in function.parameters]  # fmt: skip
    result: Any = C_TYPES[function.results[0]][0] if function.results else None
    return ctypes.CFUNCTYPE(result, *kinds)
