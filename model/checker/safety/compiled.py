"""A model compiled: its functions, the kernel and the generated glue in one namespace, compiled by Numba.

The compiled code is cached on disk, in a folder named by a hash of everything that it was made from, because Numba's
own key does not cover the functions that a cached function calls.

A model's functions are plain Python on objects. To run on packed records they take three steps: `lowering` rewrites
attribute accesses in their syntax trees, this module generates the glue that tries all rules and claims in one loop,
and `jit` compiles both together with `kernel`. Then a search step is one call into machine code for thousands of
states, without Python objects and without the interpreter's lock, so that threads run in parallel.
"""

from __future__ import annotations

import hashlib
import os
import sys
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rebalance_check.model.checker import lowering
from rebalance_check.model.checker.layout import SYMMETRIC, Sizes
from rebalance_check.model.checker.layout_source import helper_source, records_source
from rebalance_check.model.checker.specification import (
    EACH,
    Model,
    Rule,
    arguments,
    assemble,
    call,
    each_of,
    sources,
)
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

LABEL_RULE, LABEL_MEMBER = 24, 16
"""Where a label (32 bits) holds the rule and the member; the choice takes the bits below (see `kernel.RULE_SHIFT`)."""


COMMON: Final = {"nogil": True, "boundscheck": True, "error_model": "numpy", "_nrt": False}
OUTER: Final = {**COMMON, "cache": True}
INNER: Final = {**COMMON, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""How functions are compiled: what Python never calls needs no wrapper, and nothing allocates (``_nrt``)."""


LAST_COMPILATION: Final = "last-compile-seconds"
"""The file in the cache that says how long the last compilation took."""


@dataclass(frozen=True, slots=True)
class Program:
    """The compiled entry points of a model at given sizes, and its configuration as a record."""

    expand: Any
    """`kernel.expand`: the successors of a part of the frontier."""
    absorb: Any
    """`kernel.absorb`: takes new states out of a buffer of successors."""
    rehash: Any
    """`kernel.rehash`: moves fingerprints into a larger table."""
    survey: Callable[..., None]
    """`kernel.survey`: evaluates the liveness properties on states."""
    config: Any
    """The first argument of the model's functions, see `as_record`."""

    def is_cached(self) -> bool:
        """Whether the entry points of a search were compiled before, so that they need only be loaded."""
        entries = (self.expand, self.absorb, self.rehash)
        return all(any(Path(one.stats.cache_path).glob(f"*.{one.__name__}_*.nbi")) for one in entries)


def cache_directory() -> Path:
    """Where compiled code is kept: ``$XDG_CACHE_HOME/rebalance-check``, by default below ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rebalance-check"


def last_compile_seconds() -> float | None:
    """How long the last compilation of a model took on this machine; None where there was none yet."""
    try:
        return float((cache_directory() / LAST_COMPILATION).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def note_compile_seconds(seconds: float) -> None:
    """Keep how long a compilation took, for `last_compile_seconds`; where the cache cannot be written, do nothing."""
    with suppress(OSError):
        (cache_directory() / LAST_COMPILATION).write_text(f"{seconds:.1f}\n", encoding="ascii")


# ------------------------------------------------------------------------------------------------ generated source


def glue(model: Model, sizes: Sizes) -> str:
    """Source of the functions through which the kernel reaches the model's tables.

    Rules and claims are lists in Python; compiled, a list of functions would cost an indirect call each, so they are
    written out one after the other, and the compiler inlines them. The names are those that `kernel` declares.
    """
    return "\n".join(
        [
            successors_source(model, sizes),
            claims_source(model),
            achieved_source(model),
            witness_source("witness(c, s, met)", model.reachable_states),
            witness_source("reached_step(c, s, t, met)", model.reachable_steps),
        ]
    )


def successors_source(model: Model, sizes: Sizes) -> str:
    """Source of ``successors``: every rule tried for every member and choice, in the order of `Machine.successors`."""
    lines = ["def successors(c, s, words, i, out, out_words, labels, z, st):"]
    for number, rule in enumerate(model.rules):
        lines += rule_source(number, rule, sizes.get(SYMMETRIC, 1) if rule.members else 1)
    return "\n".join([*lines, "    return z", ""])


def rule_source(number: int, rule: Rule, members: int) -> list[str]:
    """The lines that try one rule for each of ``members`` members and each choice.

    The step works on slot z of the output, which holds a copy of the parent. A step that returns False has not touched
    it, so that the next one can use the same slot: this is why a guard must come before every effect.
    """
    label = f"{number << LABEL_RULE} | (m << {LABEL_MEMBER})"
    lines = [f"    for m in range({members}):"]
    indent = " " * 8
    if rule.choices is not None:
        lines.append(f"{indent}for k in range({call(rule.choices)}):")
        label, indent = f"{label} | k", indent + "    "
    step = f"{rule.step.__name__}({', '.join('out[z]' if name == 's' else name for name in arguments(rule.step))})"
    return [
        *lines,
        f"{indent}if {step}:",
        f"{indent}    z = commit(c, words, i, out, out_words, labels, z, {label}, st)",
    ]


def claims_source(model: Model) -> str:
    """Source of ``violated`` and ``violated_step``, which return the number of the first broken claim, 0 for none.

    Step invariants are numbered on from the invariants, so that one number names a claim (`ParallelSearch.outcome`).
    """
    lines = ["def violated(c, s):"]
    for number, claim in enumerate(model.invariants, 1):
        lines += [f"    if not {call(claim)}:", f"        return {number}"]
    lines += ["    return 0", "def violated_step(c, s, t):"]
    for number, claim in enumerate(model.step_invariants, len(model.invariants) + 1):
        lines += [f"    if not {call(claim)}:", f"        return {number}"]
    return "\n".join([*lines, "    return 0", ""])


def witness_source(head: str, claims: Sequence[Callable[..., bool]]) -> str:
    """Source of ``witness`` or ``reached_step``, which try only what has not been met yet."""
    everything = (1 << len(claims)) - 1
    lines = [f"def {head}:", f"    if met == {everything}:", "        return met"]
    for bit, claim in enumerate(claims):
        lines += [f"    if (met & {1 << bit}) == 0 and {call(claim)}:", f"        met |= {1 << bit}"]
    return "\n".join([*lines, "    return met", ""])


def achieved_source(model: Model) -> str:
    """Source of ``achieved``: every liveness property for every member or partition.

    They stand in the order of `liveness.compiled_properties.instances`.
    """
    lines = ["def achieved(c, s, out, i):", "    z = 0"]
    for one in model.liveness:
        indent, each = "    ", each_of(one.holds)
        if each:
            lines.append(f"{indent}for {each} in range(c.{EACH[each]}):")
            indent = " " * 8
        lines += [f"{indent}out[i, z] = {call(one.holds)}", f"{indent}z += 1"]
    return "\n".join([*lines, ""])


# ------------------------------------------------------------------------------------------------ compilation


def compile_model(model: Model, bounds: Bounds) -> Program:
    """Compile a model, or take it from the cache.

    Compiled code is shared by all bounds of the same sizes: those that differ only in the values of budgets use the
    same, except where a value is 0, which `lowering` may treat as a constant.

    Raises `RebalanceCheckError` when Numba is not installed.
    """
    try:
        import numba  # noqa: PLC0415 - an extra; judging and interpreting do without it

        from rebalance_check.model.checker.safety import kernel  # noqa: PLC0415 - it imports Numba
    except ImportError as error:
        raise RebalanceCheckError(
            f"the compiled explorer needs {error.name}, which is not installed: run "
            "pip install 'rebalance-check[explore]', or explore with compiled=False"
        ) from error
    sizes = model.sizes(bounds)
    generated = helper_source(model.state, sizes) + records_source(model.state, sizes) + glue(model, sizes)
    machinery = [Path(str(module.__file__)).read_text(encoding="utf-8") for module in (kernel, lowering)]
    key = digest(model, generated, *machinery, *constants(model, bounds), numba.__version__)
    space = one_namespace(model, bounds, generated, kernel)
    compiled = jit(numba, space, kernel.ENTRY_POINTS, cache_directory() / key)
    config = as_record(model.configure(bounds))
    return Program(compiled["expand"], compiled["absorb"], compiled["rehash"], compiled["survey"], config)


def constants(model: Model, bounds: Bounds) -> list[str]:
    """What `lowering.lower` takes for a constant, beyond what follows from the sizes."""
    return sorted(name for name, value in model.configure(bounds)._asdict().items() if value == 0)


def digest(model: Model, *more: str) -> str:
    """A name for the cache that changes with anything the compiled code is made from."""
    texts = [*sources(model).values(), *more, sys.version]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]


def one_namespace(model: Model, bounds: Bounds, generated: str, kernel: types.ModuleType) -> dict[str, Any]:
    """The model's functions, rewritten for packed states, the generated ones and the kernel's, not compiled yet."""
    space = assemble(model, bounds)
    exec(compile(generated, f"<generated for {model.name}>", "exec"), space)
    return {**vars(kernel), **space, **{function.__name__: function for function in kernel.FUNCTIONS}}


def jit(numba: Any, space: dict[str, Any], entry_points: tuple[str, ...], cache: Path) -> dict[str, Any]:
    """Clone the model's, the generated and the kernel's functions into one namespace and compile them there.

    Their names end on that of the cache: Numba calls record types by numbers that begin anew in each process, so of two
    programs that two processes cached, a third would link functions of one name and mistake one record for the other.
    """
    where = {"<generated", "rebalance_check"}
    mine = {name: value for name, value in space.items() if is_ours(value, where)}
    made: dict[str, Any] = {name: value for name, value in space.items() if name not in mine}
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(cache)
    try:
        for name, function in mine.items():
            clone = types.FunctionType(function.__code__, made, name, function.__defaults__, function.__closure__)
            clone.__qualname__ = f"{name}_{cache.name}"
            made[name] = numba.njit(clone, **(OUTER if name in entry_points else INNER))
    finally:
        numba.config.CACHE_DIR = before
    return made


def is_ours(value: Any, where: set[str]) -> bool:
    """Whether a value of the namespace is a function that belongs to the model, the kernel or the generated source."""
    return isinstance(value, types.FunctionType) and (
        value.__code__.co_filename.startswith("<generated")
        or str(value.__globals__.get("__name__")).split(".")[0] in where
    )


SHORTEST_TABLE = 4096
"""Tables of a configuration have at least this length."""


def as_record(config: Any) -> Any:
    """A configuration as one NumPy record, which compiled functions hand on as a bare pointer.

    A named tuple that holds arrays would count references at every call. Tables are padded to a power of two, so that
    bounds of different size share one record type, and with it the compiled code.
    """
    import numpy as np  # noqa: PLC0415 - interpreted models run without NumPy

    fields: list[Any] = []
    for name, value in config._asdict().items():
        if isinstance(value, tuple):
            fields.append((name, np.int32, (1 << max(len(value), SHORTEST_TABLE).bit_length(),)))
        else:
            fields.append((name, np.bool_ if isinstance(value, bool) else np.int64))
    record = np.zeros(1, np.dtype(fields, align=True))
    for name, value in config._asdict().items():
        if isinstance(value, tuple):
            record[name][0, : len(value)] = value
        else:
            record[name][0] = value
    return record[0]
