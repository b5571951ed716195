"""``fuzz --subject MODULE:FUNCTION``: what goes wrong in a user's module is one sentence and exit code 2."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.runtime.options import FaultKind, SimulationOptions
from rebalance_check.model.vocabulary.actions import COORDINATOR_FAULTS, ActionKind
from rebalance_check.model.vocabulary.events import RunStarted
from rebalance_check.pipeline.own_subject import own_options, own_schedule, own_subject

MODULE = '''
from rebalance_check import PartitionsAssigned, PartitionsRevoked, RunEnded, RunStarted
from rebalance_check.model.vocabulary.actions import ActionKind

class Toy:
    """The first member that starts owns the partition, and gives it up when it stops."""
    name, actions = "toy", frozenset({ActionKind.START_MEMBER, ActionKind.STOP_MEMBER})

    def __init__(self, seed=0, fails=""):
        self.owner, self.seqs, self.fails, self.seed = None, {}, fails, seed

    def open(self, bounds, seed):
        return [self.seen(RunStarted(source="harness", subject="toy", seed=seed))]

    def perform(self, action):
        member, kind = f"m{action.member}", None
        if self.fails == "raises":
            raise KeyError(member)
        if action.kind is ActionKind.START_MEMBER and (self.owner is None or self.fails == "doubles"):
            self.owner, kind = member, PartitionsAssigned
        elif action.kind is ActionKind.STOP_MEMBER and self.owner == member:
            self.owner, kind = None, PartitionsRevoked
        events = [kind(source=member, member=member, generation=1, partitions=("t-0",))] if kind else []
        return {"nothing": None, "words": ["assigned"]}.get(self.fails, [self.seen(event) for event in events])

    def close(self):
        return [self.seen(RunEnded(source="harness"))]

    def seen(self, event):
        from dataclasses import replace
        seq = self.seqs[event.source] = self.seqs.get(event.source, -1) + 1
        return replace(event, group="g", seq=seq)

class Passive(Toy):
    actions = frozenset({ActionKind.ADVANCE_CLOCK})

class Random(Toy):
    made = 0
    def __init__(self, seed):
        Random.made += 1
        super().__init__(seed, "doubles" if Random.made == 2 else "")

def holds(seed): return Toy(seed)
def doubles(seed): return Toy(seed, "doubles")
def raises(seed): return Toy(seed, "raises")
def returns_nothing(seed): return Toy(seed, "nothing")
def returns_words(seed): return Toy(seed, "words")
def is_none(seed): return None
def fails_at_once(seed): return 1 // 0
def is_passive(seed): return Passive(seed)
def takes_nothing(): return Toy()
number = 7
'''
Command = Callable[..., Any]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module in the present folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "own_toy.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "own_needy.py").write_text("import there_is_no_such_library", encoding="utf-8")
    (tmp_path / "own_broken.py").write_text("def make(:", encoding="utf-8")
    yield "own_toy"
    for name in ("own_toy", "own_needy", "own_broken"):
        sys.modules.pop(name, None)


def test_a_correct_subject_holds__a_broken_one_is_found_shrunk_and_replayed(module: str, command: Command) -> None:
    arguments = ("--seeds", "0:20", "--workers", 1, "--without", "generations")
    assert command("fuzz", "--subject", f"{module}:holds", *arguments).code == 0
    found = command("fuzz", "--subject", f"{module}:doubles", *arguments, "--shrink", "--json").document
    assert (found["verdict"], found["exit_code"]) == ("violated", 10)
    (first, *_) = found["counterexamples"]
    assert first["invariant"] == "no_double_ownership"
    assert first["replay"].endswith(f"--subject {module}:doubles")
    again = command(*shlex.split(first["replay"])[1:], "--workers", 1)
    assert again.code == 10
    assert first["headline"] in again.out


def test_worker_processes_find_the_module_too(module: str, command: Command) -> None:
    found = command("fuzz", "--subject", f"{module}:doubles", "--seeds", "0:40", "--workers", 2, "--json").document
    assert (found["runs"], found["exit_code"]) == (40, 10)


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("own_toy", "'own_toy' is no subject: write simulator, virtual, or MODULE:FUNCTION"),
        ("no_such_module:make", "there is no module 'no_such_module' in "),
        ("own_toy.inner:make", "there is no module 'own_toy.inner' in "),
        ("own_needy:make", "the module own_needy imports 'there_is_no_such_library', which is not installed"),
        ("own_broken:make", "the module own_broken cannot be imported (SyntaxError: "),
        ("own_toy:missing", "the module own_toy has no 'missing': name a function of it"),
        ("own_toy:number", "own_toy:number is 7: name a function of it that takes a seed and returns a subject"),
        ("own_toy:is_none", "own_toy:is_none returned None, which is no subject, as it has no name, actions, open"),
        ("own_toy:fails_at_once", "raised ZeroDivisionError: integer division or modulo by zero (own_toy.py, line"),
        ("own_toy:takes_nothing", "own_toy:takes_nothing(0) raised TypeError: takes_nothing() takes 0 positional"),
        ("own_toy:is_passive", "understands AdvanceClock: churn begins with StartMember"),
        ("own_toy:raises", "perform(StartMember m0) of the subject of own_toy:raises raised KeyError: 'm0' (own_toy.p"),
        ("own_toy:returns_nothing", "returned None where a list of events is needed: return [] if nothing was obse"),
        ("own_toy:returns_words", "returned 'assigned' where a list of events is needed"),
        ("own_toy:Random", "run again, does not: its history is not the same each time"),
    ],
)
def test_what_is_wrong_with_a_module__is_one_sentence(module: str, subject: str, said: str, command: Command) -> None:
    answer = command("fuzz", "--subject", subject, "--seeds", "0:3", "--workers", 1)
    assert answer.code == 2
    assert said in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--mutant", "no-sync-deadline"), "--mutant concerns our own code"),
        (("--upgrade", "legal"), "--upgrade concerns our own code"),
        (("--protocol", "connect"), "--protocol connect has actions of its own"),
    ],
)
def test_options_of_our_own_code_are_refused(module: str, option: tuple[str, str], said: str, command: Command) -> None:
    answer = command("fuzz", "--subject", f"{module}:holds", *option)
    assert (answer.code, said in answer.err) == (2, True)


START, STOP = ActionKind.START_MEMBER, ActionKind.STOP_MEMBER


def test_only_faults_that_the_subject_understands_are_drawn() -> None:
    plain, crashing = frozenset({START, STOP}), frozenset({START, STOP, ActionKind.CRASH_MEMBER})
    assert own_options(SimulationOptions(), plain).faults == ()
    assert own_options(SimulationOptions(), crashing).faults == (FaultKind.CRASH,)
    nodes = own_options(SimulationOptions(), plain | COORDINATOR_FAULTS).faults
    assert nodes == (
        FaultKind.COORDINATOR_KILL, FaultKind.COORDINATOR_PAUSE, FaultKind.COORDINATOR_MOVE, FaultKind.LOG_TAIL,
    )  # fmt: skip
    named = SimulationOptions(faults=(FaultKind.PAUSE, FaultKind.COORDINATOR_MOVE))
    assert own_options(named, plain | COORDINATOR_FAULTS).faults == (FaultKind.COORDINATOR_MOVE,)


def test_a_schedule_holds_what_the_subject_understands__and_no_start_of_what_runs() -> None:
    for seed in range(50):
        actions = frozenset({START, ActionKind.CRASH_MEMBER})
        schedule = own_schedule(seed, own_options(SimulationOptions(), actions), actions)
        up: set[int] = set()
        for action in schedule.actions:
            assert action.kind in actions
            assert (action.member in up) == (action.kind is ActionKind.CRASH_MEMBER)
            up ^= {action.member}


def test_the_history_says_what_the_subject_lacks(module: str) -> None:
    subject = own_subject(f"{module}:holds", without=("leader",))
    started = subject(0, own_options(SimulationOptions(), subject.make(0).actions))[0]
    assert isinstance(started, RunStarted)
    assert started.without == ("leader",)
