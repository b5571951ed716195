"""Runs in two halves: each goes to its end, and one half is at work while the other is compared."""

from itertools import islice
from typing import cast

from rebalance_check.integration.conformance.pipelining import Rounds
from rebalance_check.integration.virtual.process import VirtualKafka


class Steps:
    """A run of so many steps that tells what happens."""

    def __init__(self, name: str, steps: int, log: list[str]) -> None:
        self.name, self.left, self.log = name, steps, log

    def begin(self) -> bool:
        if self.left:
            self.left -= 1
            self.log.append(f"begin {self.name}")
            return True
        return False

    def finish(self) -> "Steps":
        self.log.append(f"finish {self.name}")
        return self


class Process:
    """What rounds need of virtual Kafka."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def flush(self) -> None:
        self.log.append("flush")


def rounds_of(steps: dict[str, int], at_once: int) -> tuple[Rounds[Steps], list[str], list[str]]:
    log: list[str] = []
    ended: list[str] = []
    waiting = iter([Steps(name, count, log) for name, count in steps.items()])
    kafka = cast("VirtualKafka", Process(log))
    rounds = Rounds(
        kafka, lambda count: islice(waiting, count), Steps.finish, lambda run: ended.append(run.name), at_once
    )
    return rounds, log, ended


def test_every_run_goes_to_its_end__also_those_that_wait_for_a_place() -> None:
    rounds, log, ended = rounds_of({"a": 3, "b": 0, "c": 1, "d": 2, "e": 5}, 2)
    while rounds.go():
        pass
    assert sorted(ended) == ["a", "b", "c", "d", "e"]
    for name, count in {"a": 3, "b": 0, "c": 1, "d": 2, "e": 5}.items():
        assert log.count(f"begin {name}") == log.count(f"finish {name}") == count
    assert rounds.stop() == []


def test_one_half_is_at_work_while_the_other_is_compared() -> None:
    rounds, log, _ = rounds_of({"a": 2, "b": 2}, 2)
    rounds.go()
    rounds.go()
    assert log == [
        "begin a",
        "flush",
        "begin b",
        "flush",
        "finish a",
        "begin a",
        "flush",
        "finish b",
        "begin b",
        "flush",
    ]


def test_what_has_begun_is_finished__when_rounds_stop() -> None:
    rounds, log, ended = rounds_of({"a": 9, "b": 9}, 2)
    rounds.go()
    assert [run.name for run in rounds.stop()] == ["a", "b"]
    assert log[-2:] == ["finish a", "finish b"]
    assert ended == []
