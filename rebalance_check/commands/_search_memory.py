"""How much memory a search may have, and whether it is compiled."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from rebalance_check.model.checker.safety.limits import resident_bytes

UNITS: Final = ("", "K", "M", "G", "T")

INTERPRETED_INSTEAD: Final = (
    "llvmlite is not installed, so the model is interpreted, which takes 90 to 470 times as long: "
    "pip install 'rebalance-check[explore]'"
)
"""The advice to compile a search. Measured in states per second of one thread, at seven bounds of four
models, with symmetry and without it."""

SHARE_OF_FREE: Final = 0.9
"""Of the memory that is free, a search takes no more than this where no limit is given."""


def parsed_size(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """The bytes of ``2GiB``, ``1.5G``, ``500MB`` (decimal) or ``1048576``.

    Raises `click.BadParameter` where the text is no size.
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)(iB|B)?", text.strip(), re.IGNORECASE)
    if found is None or not float(found[1]):
        raise click.BadParameter(f"{text!r} is no size: write a number and a unit, such as 2GiB or 500MB")
    unit = found[2].upper()
    is_decimal = bool(unit) and (found[3] or "").upper() == "B"
    return int(float(found[1]) * (1000 if is_decimal else 1024) ** UNITS.index(unit))


def is_compiled(interpreted: bool, spill: Path | None) -> bool:
    """Whether a search compiles the model; where it would, and llvmlite is missing, standard error says that.

    Only a compiled search can ``spill``: it is not interpreted then, but fails and names the library to install.
    """
    if interpreted or spill is not None or find_spec("llvmlite") is not None:
        return not interpreted
    click.echo(INTERPRETED_INSTEAD, err=True)
    return False


def free_memory() -> int | None:
    """The bytes of memory that this process may still get, by the system and its control group; None: unknown."""
    found = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except OSError:
        return None
    groups = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))
    for most, used in groups:
        try:
            limit, now = (Path("/sys/fs/cgroup", name).read_text(encoding="ascii").strip() for name in (most, used))
            found.append(int(limit) - int(now))
        except (OSError, ValueError):
            continue  # there is no such group, or it has no limit
    return max(0, min(found)) if found else None


def memory_limit(given: int | None) -> int | None:
    """The limit of the whole process: the one given, or its memory and most of the free memory."""
    if given is not None:
        return given
    free = free_memory()
    return None if free is None else resident_bytes() + int(SHARE_OF_FREE * free)
