"""A campaign that a signal ends says how many runs it judged or kept, where, and what it has found by then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.pipeline.fuzz import fuzz

HEALTHY = SimulationOptions(protocol=SimulatedProtocol.EAGER, steps=3, faults=())


def interrupt(*_given: Any) -> None:
    raise KeyboardInterrupt


def interrupt_judging(what: str, done: int, _total: int) -> None:
    if what == "judge" and done:
        raise KeyboardInterrupt


def test_without_a_table__what_is_judged_and_found() -> None:
    broken = SimulationOptions(protocol=SimulatedProtocol.EAGER, mutant="closing-member-loses")
    with pytest.raises(KeyboardInterrupt) as ended:
        fuzz(range(100), broken, invariants=["membership_ends_for_a_reason"], workers=1, on_finding=interrupt)
    (note,) = ended.value.__notes__
    assert (
        "runs are judged and none is kept (--out DIR keeps them); found so far: membership_ends_for_a_reason (seed "
        in note
    )
    assert not note.startswith("0 ")


def test_without_a_finding__that_there_is_none() -> None:
    with pytest.raises(KeyboardInterrupt) as ended:
        fuzz(range(100), HEALTHY, invariants=["one_leader"], workers=1, progress=interrupt)
    assert ended.value.__notes__ == [
        "2 runs are judged and none is kept (--out DIR keeps them); nothing is found so far"
    ]


def test_with_a_table__what_is_kept_there(tmp_path: Path) -> None:
    out = tmp_path / "campaign"
    with pytest.raises(KeyboardInterrupt) as ended:
        fuzz(range(9), HEALTHY, out=out, invariants=["one_leader"], workers=1, progress=interrupt_judging)
    assert ended.value.__notes__ == [
        f"9 runs are kept in {out}, which `rebalance-check judge` reads; nothing is found so far"
    ]
