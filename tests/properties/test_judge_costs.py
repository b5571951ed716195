"""The judge needs no more memory for a longer history, and no more steps per event for more members."""

import gc
import importlib.util
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

import pytest

from rebalance_check.model.vocabulary import events as e
from rebalance_check.properties.judge import Judge, judge
from rebalance_check.properties.verdict import Outcome, Violated
from rebalance_check.properties.views.recent import DEPARTED, GENERATIONS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bench() -> Any:
    """The script that measures the same at full size."""
    spec = importlib.util.spec_from_file_location("judge_memory", ROOT / "bench" / "judge_memory.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_churning_group_is_healthy(bench: Any) -> None:
    judgement = judge(bench.ChurningGroup(12).events(3_000))
    assert not judgement.counterexamples
    assert judgement.verdict("no_double_ownership").outcome is Outcome.HELD


def test_memory_does_not_grow_with_generations_that_are_over(bench: Any) -> None:
    """Each generation has a member of a new name and member id."""
    enough = 50 * (max(GENERATIONS, DEPARTED) + 10)
    short, long = (kept_bytes(bench.ChurningGroup(12, quiet=0).events(number)) for number in (enough, 3 * enough))
    assert long < 1.1 * short


def kept_bytes(history: Iterable[e.Event]) -> int:
    """The size of all that a judge refers to after the history; the same on every run."""
    judging = Judge()
    for event in history:
        judging.observe(event)
    seen: dict[int, Any] = {}
    rest: list[Any] = [judging]
    while rest:
        one = rest.pop()
        if id(one) not in seen and not isinstance(one, type | ModuleType | FunctionType):
            seen[id(one)] = one
            rest += gc.get_referents(one)
    return sum(map(sys.getsizeof, seen.values()))


def steps(work: Callable[[], object]) -> int:
    """How many lines of Python the work takes."""
    count = 0

    def on_line(_frame: FrameType, kind: str, _value: object) -> Any:
        nonlocal count
        count += kind == "line"
        return on_line

    before = sys.gettrace()
    sys.settrace(on_line)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def claim_one(number: int) -> list[e.Event]:
    return [e.PartitionsAssigned(member=f"m{i}", generation=1, partitions=("t-0",)) for i in range(number)]


def claim_in_turn(number: int) -> list[e.Event]:
    """Each in a generation of its own, and none gives it up."""
    return [e.PartitionsAssigned(member=f"m{i}", generation=i, partitions=("t-0",)) for i in range(number)]


def complete_one(number: int) -> list[e.Event]:
    return [e.AssignmentCompleted(member=f"m{i}", generation=1, owned=("t-0",)) for i in range(number)]


def claim_and_rejoin(number: int) -> list[e.Event]:
    asked = [e.RequestSent(member=f"m{i}", api="JoinGroup", request=1) for i in range(number)]
    joined = [
        e.MemberJoined(member=f"m{i}", member_id=f"m{i}", generation=2, owned_partitions=("t-0",))
        for i in range(number)
    ]
    return [*claim_one(number), *asked, *joined]


def compute_for_all(number: int) -> list[e.Event]:
    """All claim one partition, and a leader gives it to as many others."""
    claims = tuple((f"m{i}", ("t-0",)) for i in range(number))
    given = tuple((f"n{i}", ("t-0",)) for i in range(number))
    return [e.AssignmentComputed(member="m0", generation=1, owned_partitions=claims, assignments=given)]


def join_in_another_order(number: int) -> list[e.Event]:
    """All wait for one generation, and are answered in the reverse order."""
    at: dict[str, Any] = {"incarnation": 0, "generation": 1}
    waiting = [
        e.RequestParked(api="JoinGroup", request=i, member_id=f"m{i}", protocols=("range",), **at)
        for i in range(number)
    ]
    replied = [
        e.JoinGroupReplied(request=i, error="NONE", member_id=f"m{i}", assigned_member_id=f"m{i}", **at)
        for i in reversed(range(number))
    ]
    return [*waiting, *replied]


@pytest.mark.parametrize(
    "history",
    [claim_one, claim_in_turn, complete_one, claim_and_rejoin, compute_for_all, join_in_another_order],
)
def test_the_steps_per_member_do_not_grow_with_the_members(history: Callable[[int], list[e.Event]]) -> None:
    few, many = history(50), history(400)
    judge(few)
    assert steps(lambda: judge(many)) < 9.5 * steps(lambda: judge(few))


def test_each_claimant_after_the_first_is_counted() -> None:
    verdict = judge(claim_one(100)).verdict("no_double_ownership")
    assert isinstance(verdict, Violated)
    assert verdict.count == 99
