"""The whole print of each sub-command: its help, and its output at small sizes, held against golden files.

``pytest --update-scenarios`` rewrites them. Durations, rates, memory, line numbers, the number of cores and
folders are replaced by placeholders.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from rebalance_check import Event, write_history
from rebalance_check.cli import COMMANDS

Command = Callable[..., Any]
Golden = Callable[[str, str], None]

SMALL: Final = "--bounds members=2,partitions=1,generations=2,crashes=0,initial_delay=off --interpreted"

SAMPLES: Final = Path(__file__).parents[1] / "data/diagnose"
OUTPUT: Final = {
    "assignors": "assignors ours --seeds 0:5",
    "assignors-unknown-release": "assignors 1.0",
    "assignors-connect": "assignors ours --assignor connect-incremental --assignor connect-eager --seeds 0:5",
    "assignors-connect-spread": "assignors ours --assignor connect-incremental --shape tame --invariant spread "
    "--seeds 0:3",
    "assignors-connect-input": "assignors ours --assignor connect-incremental --invariant nothing_left "
    "--input 'configure c3 2; join w1; join w4; round missed w1; delete c3'",
    "assignors-connect-bad-input": "assignors ours --assignor connect-eager --input 'join'",
    "assignors-connect-bad-shape": "assignors ours --assignor connect-eager --shape racks",
    "assignors-connect-bad-assignor": "assignors ours --shape returns",
    "broker": "broker --port 0 --nodes 2 --topics orders:3,payments:6 --minutes 0.001",
    "broker-bad-topics": "broker --topics orders",
    "conform-bad-input": "conform client -- no-such-program {{bootstrap}} {{group}} {{topic}}",
    "explore": f"explore {SMALL}",
    "explore-mutant": f"explore {SMALL} --mutant generation-is-reused",
    "explore-witness": "explore --bounds members=2,partitions=1,generations=2,crashes=0,expiries=1,initial_delay=off "
    "--witness stale_owner_overlaps_a_current_owner",
    "explore-witness-not-reached": "explore --bounds members=1,partitions=1,generations=1,crashes=0,initial_delay=off "
    "--witness leader_has_crashed",
    "explore-liveness": "explore --bounds members=1,partitions=1,generations=1,crashes=0,initial_delay=off "
    "--interpreted --liveness",
    "explore-walks": "explore --walks 300 --bounds members=2,partitions=1,generations=2,crashes=0 "
    "--mutant generation-is-reused",
    "explore-early": f"explore {SMALL} --max-states 50",
    "explore-bad-bounds": "explore --bounds members=0",
    "fuzz": "fuzz --seeds 0:5 --protocol cooperative --faults common --workers 1 --invariant ownership",
    "fuzz-mutant": "fuzz --seeds 4:5 --protocol cooperative --faults common --workers 1 "
    "--invariant callbacks_alternate --mutant revoked-partitions-kept",
    "fuzz-bad-seeds": "fuzz --seeds five",
    "invariants": "invariants no_double_ownership one_leader",
    "diagnose": "diagnose {samples}/logs/broker/4.3.1/mail-storm.log --group mail-storm",
    "diagnose-held-up": "diagnose {samples}/field/broker.log {samples}/field/dotnet1271.jsonl",
    "diagnose-missing-file": "diagnose {folder}/missing.log",
    "judge": "judge {history} --invariant one_leader",
    "judge-violated": "judge {history} --invariant no_double_ownership",
    "judge-missing-file": "judge {folder}/missing.jsonl",
    "live-bad-members": "live --members 0",
    "mutants": "mutants revoked-partitions-kept generation-is-reused",
    "mutants-diff": "mutants revoked-partitions-kept --diff",
    "compare-bad-address": "compare model embedded v1/eager",
    "explore-address": "explore 'v1/eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off/0.0.0.0.0'",
    "explore-bad-address": "explore v1/eager",
    "report": "report {history}",
    "report-last": "report {history} --last 3",
    "schema": "schema MemberJoined",
    "schema-unknown-event": "schema MemberJoint",
    "run-bad-seeds": "run --seeds five",
}
"""The arguments by the name of the golden file; ``{history}`` is one in which two members own t-1."""

SUBCOMMANDS: Final = ("conform client", "conform broker")
"""The commands of groups."""

WITH_RARE: Final = ("diagnose", "explore", "fuzz", "compare", "live", "judge", "conform client")
"""The commands with options that `--help` leaves out."""

VARYING: Final = (
    (re.compile(r"[\d,.]+ (m?s|min|h)\b"), r"# \1"),
    (re.compile(r"[\d,]+( \w+)?/s\b"), r"#\1/s"),
    (re.compile(r"\d+ MiB"), "# MiB"),
    (re.compile(r"(127\.0\.0\.1):\d+"), r"\1:#"),
    (re.compile(r"^@@ .* @@", re.MULTILINE), "@@ # @@"),
)
"""Parts that differ from run to run, and their substitutes."""


@pytest.fixture(autouse=True)
def narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Help is wrapped at 80 columns, whatever terminal runs the tests."""
    monkeypatch.setenv("COLUMNS", "80")


def steady(text: str, folder: Path) -> str:
    """The text without what differs from run to run."""
    text = text.replace(str(folder), "FOLDER")
    for pattern, placeholder in VARYING:
        text = pattern.sub(placeholder, text)
    return text


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command__as_agreed(name: str, command: Command, golden: Golden, tmp_path: Path) -> None:
    answer = command(name, "--help-all" if name in WITH_RARE else "--help")
    assert answer.code == 0
    golden(f"help-{name}.txt", steady(answer.out, tmp_path))


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_the_help_of_a_subcommand__as_agreed(name: str, command: Command, golden: Golden, tmp_path: Path) -> None:
    answer = command(*name.split(), "--help-all" if name in WITH_RARE else "--help")
    assert answer.code == 0
    golden(f"help-{name.replace(' ', '-')}.txt", steady(answer.out, tmp_path))


def test_the_help__as_agreed(command: Command, golden: Golden) -> None:
    golden("help.txt", command("--help").out)


@pytest.mark.parametrize("name", OUTPUT)
def test_the_output_of_a_command__as_agreed(
    name: str, command: Command, golden: Golden, tmp_path: Path, double_ownership: list[Event]
) -> None:
    history = tmp_path / "history.jsonl"
    write_history(history, double_ownership)
    line = OUTPUT[name].format(history=history, folder=tmp_path, samples=SAMPLES)
    answer = command(*shlex.split(line))
    line = line.replace(f"{SAMPLES}/", "tests/data/diagnose/")
    said = f"$ rebalance-check {line}\n{answer.out}--- standard error\n{answer.err}--- exit code {answer.code}\n"
    golden(f"{name}.txt", steady(said, tmp_path))


def test_every_command_has_output_that_is_held_to_a_file() -> None:
    assert {line.split()[0] for line in OUTPUT.values()} == set(COMMANDS)


REFUSED: Final = (
    "-bad-bounds", "-bad-seeds", "-bad-members", "-bad-address", "-bad-input", "-bad-shape", "-bad-assignor",
    "-missing-file", "-unknown-release",
)  # fmt: skip
"""Output of commands that judge nothing, because what they were given is refused."""

JUDGING: Final = {"run", "explore", "fuzz", "compare", "live", "assignors", "judge", "report"}
"""The commands whose output ends with a verdict; `mutants --run` does, too."""

VERDICT_LINE: Final = re.compile(r"verdict: (held|undecided|untested|violated)(: \S.*)? \(.*\d.*\)")


@pytest.mark.parametrize(
    "name", [name for name, line in OUTPUT.items() if line.split()[0] in JUDGING and not name.endswith(REFUSED)]
)
def test_a_command_that_judges__ends_with_a_verdict_line(name: str) -> None:
    text = (Path(__file__).parent / "golden" / f"{name}.txt").read_text(encoding="utf-8")
    output, _, _ = text.partition("--- standard error\n")
    lines = output.splitlines()
    assert VERDICT_LINE.fullmatch(lines[-1]), lines[-1]
    assert not any(line.startswith("  held  ") and "claim" not in line for line in lines), "what held is a number"
