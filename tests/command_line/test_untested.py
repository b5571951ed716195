"""The fourth verdict on the command line: *untested* is listed and no success; --require-tested makes it exit 12."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.model.vocabulary.events import Event, PartitionsAssigned, RunEnded, RunStarted
from rebalance_check.pipeline.fuzz import fuzz
from rebalance_check.properties.history import write_history
from rebalance_check.properties.verdict import Outcome

Command = Callable[..., Any]
START = RunStarted(source="harness", seq=0, subject="mine")
GRANT = PartitionsAssigned(group="g", source="m0", seq=0, member="m0", generation=1, partitions=("t-0",))
END = RunEnded(source="harness", seq=1)
CHOSEN = ("--invariant", "no_double_ownership", "--invariant", "one_leader")


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Path]:
    def write(*events: Event) -> Path:
        path = tmp_path / "history.jsonl"
        write_history(path, events)
        return path

    return write


def test_judge__nothing_happened__is_undecided_and_exits_12(command: Command, recorded: Callable[..., Path]) -> None:
    answer = command("judge", recorded(START, END))
    assert answer.code == 12
    assert "undecided (0 of " in answer.out


def test_judge__untested__exits_0__unless_each_claim_must_be_tested(
    command: Command, recorded: Callable[..., Path]
) -> None:
    path = recorded(START, GRANT, END)
    answer = command("judge", path, *CHOSEN)
    assert answer.code == 0
    assert "untested, and no success: 1 (" in answer.out
    assert "untested: one_leader: the history holds no" in command("judge", path, *CHOSEN, "--verbose").out
    required = command("judge", path, *CHOSEN, "--require-tested")
    assert required.code == 12
    assert (
        "untested: one_leader: the history holds no JoinGroupReplied, MemberJoined or AssignmentComputed"
        in required.out
    )
    assert command("judge", path, *CHOSEN, "--require-tested", "--exclude", "one_leader").code == 0
    assert command("judge", path, *CHOSEN, "--require-tested", "--without", "leader").code == 0


def test_judge__a_name_that_is_none__exits_2(command: Command, recorded: Callable[..., Path]) -> None:
    path = recorded(START, GRANT, END)
    for option in ("--exclude", "--without"):
        assert command("judge", path, option, "no_such").code == 2


def test_judge__as_json_and_as_a_page__says_what_is_untested(
    command: Command, recorded: Callable[..., Path], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    document = command("judge", recorded(START, GRANT, END), *CHOSEN, "--html", page, "--json").document
    assert document["verdicts"]["one_leader"] == {
        "verdict": "untested", "reason": "the history holds no JoinGroupReplied, MemberJoined or AssignmentComputed",
    }  # fmt: skip
    assert document["verdict"] == "held"
    assert "untested: one_leader" in page.read_text(encoding="utf-8")


def test_fuzz__a_claim_that_no_run_tests__is_untested__in_memory_and_on_a_table(tmp_path: Path) -> None:
    names = ["safe_status_writes.cache_follows_reads", "no_double_ownership"]
    for out in (None, tmp_path / "table"):
        result = fuzz(
            range(40), SimulationOptions(protocol=SimulatedProtocol.EAGER), out=out, invariants=names, workers=1
        )
        untested, held = (result.verdicts[name] for name in sorted(names, reverse=True))
        assert (untested.outcome, untested.outcomes) == (Outcome.UNTESTED, {Outcome.UNTESTED: 40})
        assert untested.reason == "the history holds no StatusRead, StatusIgnored or StatusQueried"
        assert held.outcome is Outcome.HELD
        assert (result.outcome, result.exit_code) == (Outcome.HELD, 0)
    required = fuzz(
        range(2), SimulationOptions(protocol=SimulatedProtocol.EAGER), invariants=names, workers=1, require_tested=True
    )
    assert (required.outcome, required.exit_code) == (Outcome.UNDECIDED, 12)


def test_fuzz__require_tested__exits_12(command: Command) -> None:
    claims = ("--invariant", "no_double_ownership", "--invariant", "status")
    common = ("fuzz", "--protocol", "eager", "--seeds", "0:2", "--workers", "1", *claims)
    assert command(*common).code == 0
    assert command(*common, "--require-tested").code == 12
    assert command(*common, "--require-tested", "--exclude", "status").code == 0


def test_fuzz__a_mode_of_connect__is_refused_for_another_protocol(command: Command) -> None:
    answer = command("fuzz", "--protocol", "eager", "--mode", "compatible", "--seeds", "0:1")
    assert answer.code == 2
    assert "--mode compatible is one of Connect workers, and the protocol is eager: leave it out" in answer.err
