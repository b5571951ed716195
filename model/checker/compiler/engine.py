"""From LLVM's text to machine code that can be called, by way of llvmlite."""

from __future__ import annotations

import ctypes
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm

INLINE_THRESHOLD: Final = 50
"""How large a function LLVM inlines: more than this compiles longer, and runs hardly faster."""


def target() -> Any:
    """This machine, with all that its processor can do; made anew each time, because an engine takes it over."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True,
        reloc="default", codemodel="jitdefault",
    )  # fmt: skip


def description() -> str:
    """The versions and the processor that decide which machine code a text becomes."""
    features = llvm.get_host_cpu_features().flatten()
    versions = f"llvmlite {llvmlite.__version__}, LLVM {llvm.llvm_version_info}"
    return f"{versions}, {llvm.get_default_triple()}, {llvm.get_host_cpu_name()}, {features}"


def object_code(text: str) -> bytes:
    """Machine code of a program, optimised for this machine."""
    machine = target()
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(2)
    tuning.inlining_threshold = INLINE_THRESHOLD
    tuning.loop_vectorization = tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    code: bytes = machine.emit_object(module)
    del builder, module
    give_memory_back()
    return code


def give_memory_back() -> None:
    """Let the C library return what LLVM has freed, tens of MB, where it offers that (``malloc_trim`` of glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class Loaded:
    """Machine code in memory, for as long as this object exists."""

    def __init__(self, code: bytes) -> None:
        machine, empty = target(), llvm.parse_assembly("")
        empty.triple = machine.triple
        self._engine = llvm.create_mcjit_compiler(empty, machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function or a variable of the program is."""
        found: int = self._engine.get_function_address(name) or self._engine.get_global_value_address(name)
        return found

    def fault(self) -> ctypes.c_int32:
        """The number of the function in which an index or a divisor was wrong, 0 while there is none."""
        return ctypes.c_int32.from_address(self._engine.get_global_value_address("fault"))
