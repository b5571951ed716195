"""The command line on liveness: verdicts, exit codes, the lasso as text, as a page and replayed."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("networkx", reason="the extra 'explore' is not installed")

from tests.command_line.conftest import Answer
from tests.parsed_page import ParsedPage

Command = Callable[..., Answer]

STUCK = (
    "explore", "--mutant", "unknown-id-is-kept", "--bounds",
    "members=2,partitions=1,generations=3,crashes=0,expiries=1,initial_delay=off", "--liveness", "--interpreted",
)  # fmt: skip
HEALTHY = [argument for argument in STUCK if argument not in ("--mutant", "unknown-id-is-kept")]


def test_explore__liveness_broken__exits_11_with_a_run_that_repeats(
    command: Command, golden: Callable[[str, str], None]
) -> None:
    answer = command(*STUCK)
    assert answer.code == 11
    assert "  violated  no_stuck_member\n" in answer.out
    golden("lasso.txt", answer.out[answer.out.index("no_stuck_member: never") :])


def test_explore__liveness_held__says_of_how_much(command: Command) -> None:
    answer = command(*HEALTHY, "--json")
    found = answer.document["liveness"]
    assert (answer.code, found["verdict"], found["counterexamples"]) == (0, "held", [])
    assert set(found["claims"].values()) == {"held"}
    assert (found["states"], found["steps"]) == (931, 1841)


def test_explore__liveness_after_a_limit__is_undecided(command: Command) -> None:
    answer = command(*HEALTHY, "--max-states", 50)
    assert answer.code == 12
    assert "liveness is undecided: the exploration ended after" in answer.out


def test_replay__a_lasso__exits_11_and_shows_the_same(command: Command) -> None:
    found = command(*STUCK, "--json").document["liveness"]["counterexamples"][0]
    assert (found["invariant"], found["breaks"], found["repeats_after"]) == ("no_stuck_member", ["no_stuck_member"], 11)
    again = command("explore", found["address"], "--json")
    assert again.code == 11
    assert again.document["paths"] == [found]


def test_replay__a_healthy_run_that_goes_on_for_ever__breaks_nothing(command: Command) -> None:
    answer = command(
        "explore", "v1/eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off/0.0.0.0.0~0.0.0"
    )
    assert answer.code == 0
    assert answer.out.startswith("a run that goes on for ever, and breaks no liveness property\n")
    assert " ~  8  ReceiveHeartbeat m0" in answer.out


def test_explore__html__draws_the_steps_that_repeat(command: Command, tmp_path: Path) -> None:
    page = tmp_path / "lasso.html"
    assert command(*STUCK, "--html", page).code == 11
    parsed = ParsedPage(page.read_text(encoding="utf-8"))
    runs = parsed.data("page")["shown"]
    assert {parsed.data(f"timeline-{run['timeline']}")["steps"] - run["repeatsAfter"] for run in runs.values()} == {6}
    findings = {found["claim"]: found for run in runs.values() for found in run["findings"]}
    assert findings["no_stuck_member"]["headline"] == "never for m0"
    reasons = [reason["text"] for reason in findings["no_stuck_member"]["because"]]
    assert reasons[0].startswith("steps 12 to 17 lead back to where they began")
