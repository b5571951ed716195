"""Spin on its own model of the same protocol (`spin/group.pml`): generated, compiled by ``cc`` and run."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measured_process import measured
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol

SOURCE = Path(__file__).parent / "spin" / "group.pml"
OPTIMISED = ("-O2", "-DSAFETY")
RUN = ("-E", "-m1000000", "-w22")
"""A state without a successor is no error (the bounds end there); a deep enough stack; 2^22 slots of hash table."""

VARIANTS = {
    "exact, partial order reduction on": (),
    "exact, partial order reduction off": ("-DNOREDUCE",),
    "-DCOLLAPSE": ("-DCOLLAPSE",),
    "hash compaction (-DHC4)": ("-DHC4",),
}
"""The options of ``cc`` in addition to `OPTIMISED`."""

EXACT = tuple(VARIANTS)[:-1]
"""Those that compare states whole; hash compaction misses some."""


@dataclass(frozen=True, slots=True)
class SpinRun:
    """The findings and the cost of one run of Spin; ``make_seconds`` is the time of ``spin -a`` and ``cc``."""

    states: int
    transitions: int
    make_seconds: float
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    vector_bytes: int

    @property
    def rate(self) -> float:
        """Distinct states per CPU second of the search."""
        return self.states / self.cpu_seconds


def is_there() -> bool:
    """Whether Spin and a C compiler are installed."""
    return shutil.which("spin") is not None and shutil.which("cc") is not None


def run(bounds: Bounds, variant: str) -> SpinRun:
    """Make the verifier of these bounds anew, and run it to its end."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generated = measured(["spin", *defines(bounds), "-a", str(SOURCE)], folder)
        built = measured(["cc", *OPTIMISED, *VARIANTS[variant], "-o", "pan", "pan.c"], folder)
        found = measured(["./pan", *RUN], folder)
    number = {
        what: int(match[1])
        for what, pattern in PATTERNS.items()
        if (match := re.search(pattern, found.output)) is not None
    }
    if number.get("errors") != 0:
        raise RuntimeError(f"Spin found the claim broken, or did not end: {found.output}")
    return SpinRun(
        states=number["states"], transitions=number["transitions"], vector_bytes=number["vector"],
        make_seconds=generated.seconds + built.seconds,
        seconds=found.seconds, cpu_seconds=found.cpu_seconds, peak_bytes=found.peak_bytes,
    )  # fmt: skip


PATTERNS = {
    "errors": r"errors: (\d+)",
    "states": r"(\d+) states, stored",
    "transitions": r"(\d+) transitions",
    "vector": r"State-vector (\d+) byte",
}


def defines(bounds: Bounds) -> list[str]:
    """The bounds as the Promela model reads them."""
    cooperative = int(bounds.protocol is RebalanceProtocol.COOPERATIVE)
    sizes = {name.upper(): getattr(bounds, name) for name in ("members", "partitions", "generations", "crashes")}
    return [f"-D{name}={value}" for name, value in {**sizes, "COOPERATIVE": cooperative}.items()]
