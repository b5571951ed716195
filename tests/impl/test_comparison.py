"""The core of all comparisons: differences and their text, shrinking, runs in lockstep and together, figures."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import pytest

from rebalance_check.impl.comparison.compare import Lockstep, Script, compared, first_difference, together
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference, Field, differing, shrunk
from rebalance_check.impl.comparison.known import KnownDifference, foreseen, known


class Adder:
    """Adds numbers; ``lost`` is one that it leaves out."""

    def __init__(self, name: str = "adder", lost: int = -1) -> None:
        self.name, self.total = name, 0
        self._lost = lost

    def perform(self, step: int) -> dict[str, int]:
        self.total += 0 if step == self._lost else step
        return {"total": self.total, "steps": step}


def found_in(steps: tuple[int, ...], lost: int = 7) -> Difference | None:
    return compared(Lockstep((Adder("sound"), Adder("broken", lost)), Script(steps)))


def test_two_sides_that_do_the_same_do_not_differ() -> None:
    run = Lockstep((Adder(), Adder(), Adder()), Script([1, 2, 3]))
    assert compared(run) is None
    assert (run.steps, run.compared) == ([1, 2, 3], 6)


def test_the_first_difference_ends_a_run() -> None:
    found = found_in((1, 7, 2))
    assert found == Difference(("sound", "broken"), (1, 7), (Field("total", 8, 1),), kind="total")


def test_a_difference_reads_as_a_sentence_and_a_table() -> None:
    found = Difference(
        ("Kafka", "ours"), ("join a", "sync a\nb"), (Field("error", 0, 25), Field("group", "Stable", "Empty")),
        origin="seed 3", again="rebalance-check compare ours virtual --seeds 3:4",
    )  # fmt: skip
    assert str(found).splitlines() == [
        "Kafka and ours differ in error, group after step 2 (seed 3)",
        "    1  join a",
        r"    2  sync a\nb",
        "  error",
        "    Kafka  0",
        "    ours   25",
        "  group",
        "    Kafka  Stable",
        "    ours   Empty",
        "  again: rebalance-check compare ours virtual --seeds 3:4",
    ]


def test_of_many_steps_the_last_are_shown__and_of_a_long_value_its_beginning() -> None:
    found = Difference(("a", "b"), tuple(range(100)), (Field("x", "y" * 2_000, ""),))
    lines = str(found).splitlines()
    assert lines[1:3] == ["  ... 88 more before", "   89  88"]
    assert lines[-2] == f"    a  {'y' * 1_000}..."


def test_an_empty_text_is_seen() -> None:
    found = Difference(("a", "b"), (), (Field("leader", "", "m0"),))
    assert "    a  ''" in str(found)


def test_a_field_that_one_side_lacks_differs() -> None:
    (field,) = differing({"a": 1, "b": None}, {"a": 1})
    assert (field.name, field.first, str(field.second)) == ("b", None, "nothing")


def test_a_value_is_found_by_the_name_of_its_field() -> None:
    found = found_in((7,))
    assert found is not None
    assert found.values("total") == (7, 0)
    with pytest.raises(KeyError):
        found.values("steps")


def test_steps_that_are_not_needed_are_left_out__but_those_that_stay() -> None:
    found = found_in((1, 2, 3, 7, 4))
    assert found is not None
    assert shrunk(found, found_in).steps == (7,)
    assert shrunk(found, found_in, keep=2).steps == (1, 2, 7)


def test_a_difference_of_another_kind_is_not_taken_for_the_same() -> None:
    found = found_in((1, 2, 7))
    assert found is not None
    other = Difference(found.sides, (7,), (), kind="another")
    assert shrunk(found, lambda _: other) == found


def test_observations_that_are_there_already_are_compared_step_by_step() -> None:
    shown = ([{"x": 1}, {"x": 2}, {"x": 3}], [{"x": 1}, {"x": 0}, {"x": 0}])
    found = first_difference(("a", "b"), "pqr", shown)
    assert found is not None
    assert (found.steps, found.fields) == (("p", "q"), (Field("x", 2, 0),))
    assert first_difference(("a", "b"), "pqr", (shown[0], shown[0])) is None


class Counted(Lockstep):
    """A run whose end is noted."""

    closed: ClassVar[Counter[str]] = Counter()

    def __init__(self, name: str, steps: tuple[int, ...]) -> None:
        super().__init__((Adder(name), Adder("broken", 7)), Script(steps))
        self.name = name

    def close(self) -> None:
        self.closed[self.name] += 1


@pytest.fixture
def closed() -> Counter[str]:
    Counted.closed.clear()
    return Counted.closed


def test_many_runs_are_done_at_once__each_comes_back_closed(closed: Counter[str]) -> None:
    flushed = Counter[str]()
    runs = [Counted(f"r{number}", tuple(range(number))) for number in range(12)]
    over = list(together(runs, lambda: flushed.update(["flush"]), at_once=6))
    assert {run.name for run, _ in over} == {f"r{number}" for number in range(12)}
    assert {run.name for run, found in over if found is not None} == {"r8", "r9", "r10", "r11"}
    assert set(closed.values()) == {1}
    assert flushed.total() < sum(len(run.steps) for run in runs)


def test_runs_that_go_on_are_closed_when_nobody_asks_for_more(closed: Counter[str]) -> None:
    runs = together((Counted(f"r{number}", (1, 1, number, 1)) for number in range(5, 50)), lambda: None, at_once=8)
    run, found = next(runs)
    runs.close()
    assert (run.name, found is not None) == ("r7", True)
    assert set(closed) == {f"r{number}" for number in range(5, 13)}


def test_a_run_may_come_when_others_are_over(closed: Counter[str]) -> None:
    """Its source gives nothing for a while, and more later."""
    waiting = [Counted("first", (7,))]

    class Source:
        def __iter__(self) -> Source:
            return self

        def __next__(self) -> Counted:
            if not waiting:
                raise StopIteration
            return waiting.pop()

    over = []
    for run, _ in together(Source(), lambda: None, at_once=4):
        over.append(run.name)
        if run.name == "first":
            waiting.append(Counted("second", (1,)))
    assert over == ["first", "second"]
    assert closed == {"first": 1, "second": 1}


KNOWN = (
    KnownDifference("sevens are lost", "a defect", "adders", "this file", concerns=lambda subject: subject == "adder",
                    recognises=lambda found: 7 in found.steps),
    KnownDifference("nines end it", "a defect", "adders", "this file", foresees=lambda step: step == 9),
)  # fmt: skip


def test_a_known_difference_is_recognised__of_the_subjects_that_show_it() -> None:
    found = found_in((1, 7))
    assert found is not None
    assert known(KNOWN, "adder", found) is KNOWN[0]
    assert known(KNOWN, "another", found) is None
    assert foreseen(KNOWN, 9) is KNOWN[1]
    assert foreseen(KNOWN, 7) is None


def test_figures_add_up__and_what_is_known_is_counted_apart() -> None:
    found = found_in((7,))
    assert found is not None
    total, part = Compared(("a", "b"), "sums"), Compared(("a", "b"))
    part.counts.update(runs=2, steps=1_500, spared=0)
    part.note(found, "sevens are lost")
    part.note(found)
    total.add(part)
    total.add(part)
    assert (total.counts["steps"], total.counts["spared"], total.known) == (3_000, 0, {"sevens are lost": 2})
    assert total.examples == {"sevens are lost": found}
    assert total.differences == [found, found]
    assert str(total) == "a and b: 4 runs, 3,000 steps; 2 known differences, 2 unexplained"
