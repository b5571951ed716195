"""Scenario files themselves: what is refused, and how expected answers are rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.impl.scenarios import COORDINATOR_LANGUAGE, Scenario, scenarios_in
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.expectations import DATA, Expectations, scenario_files
from tests.impl.test_coordinator_scenarios import answers

STATIC = DATA / "coordinator" / "static.scenario"

WRONG = """\
# The subject of the file.

# Why the scenario matters.
[one member joins]
form a -> Empty
# Why the step matters.
join b   -> waits
status   -> Stable

[another]
status -> Dead
"""
RIGHT = WRONG.replace("Empty", "Stable").replace("join b   -> waits", "join b -> MEMBER_ID_REQUIRED b")
"""The same with what the coordinator answers: comments, titles and the spacing of right lines are kept."""


def update(path: Path) -> str:
    for scenario in scenarios_in(path.read_text(encoding="utf-8"), path.name):
        Expectations(update=True).scenario(path, scenario, answers(scenario))
    return path.read_text(encoding="utf-8")


def test_wrong_answers_are_rewritten__and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "wrong.scenario"
    path.write_text(WRONG, encoding="utf-8")

    assert update(path) == RIGHT
    assert update(path) == RIGHT


def test_a_spoilt_file_of_ours_is_restored(tmp_path: Path) -> None:
    path = tmp_path / STATIC.name
    right = STATIC.read_text(encoding="utf-8")
    path.write_text(right.replace("-> generation 1", "-> generation 7"), encoding="utf-8")

    assert update(path) == right


@pytest.mark.parametrize(
    "path", sorted({path for path, _ in scenario_files("coordinator")}), ids=lambda path: path.stem
)
def test_a_file_whose_answers_are_right_stays_as_it_is(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    update(copy)

    assert copy.read_bytes() == path.read_bytes()


def test_a_wrong_answer_fails_without_the_flag(tmp_path: Path) -> None:
    path = tmp_path / "wrong.scenario"
    path.write_text(WRONG, encoding="utf-8")
    (first, _) = scenarios_in(WRONG, path.name)

    with pytest.raises(AssertionError, match=r"wrong\.scenario differs: pytest --update-scenarios"):
        Expectations().scenario(path, first, answers(first))
    assert path.read_text(encoding="utf-8") == WRONG


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "jion a",
            r"x\.scenario:3: 'jion' in 'jion a' is no verb of coordinator scenarios: use one of admit, advance, c",
        ),
        ("join", r"'join' is malformed: it has 0 words behind the verb; write join MEMBER \[group= version="),
        ("join a b", "it has 2 words behind the verb"),
        ("heartbeat a one", r"'one' is no GENERATION; write heartbeat MEMBER GENERATION"),
        ("heartbeat a 1 versoin=3", "versoin= is no option of this verb"),
        ("join a version=new", "version= takes a whole number, and not 'new'"),
        ("fail OOPS", r"'OOPS' is no ERROR; write fail \[ERROR\]"),
        ("end-txn maybe", r"'maybe' is no commit\|abort"),
        ("fetch some", "'some' is no"),
        ("setting max_sizes=2", "max_sizes=2 is no setting: write NAME=NUMBER with one of min_session"),
    ],
)
def test_a_line_that_the_language_lacks_is_refused__with_its_place(line: str, sentence: str) -> None:
    (scenario,) = scenarios_in(f"# a comment\n[title]\n{line} -> NONE\n", "x.scenario")

    with pytest.raises(RebalanceCheckError, match=sentence) as refused:
        answers(scenario)
    assert str(refused.value).startswith("x.scenario:3: ")


def test_a_step_before_the_first_title_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match=r"x\.scenario:1: 'join a' stands before the first title"):
        list(scenarios_in("join a\n", "x.scenario"))


def test_two_scenarios_of_one_title_are_refused() -> None:
    with pytest.raises(RebalanceCheckError, match=r"^x:3: two scenarios have the title 'same'"):
        list(scenarios_in("[same]\nstatus\n[same]\n", "x"))


def test_a_scenario_without_a_file_counts_its_lines() -> None:
    with pytest.raises(RebalanceCheckError, match=r"^line 2: 'x' in 'x' is no verb"):
        answers(Scenario.of(["join a", "x"]))


def test_every_verb_says_what_it_does() -> None:
    assert [verb.name for verb in COORDINATOR_LANGUAGE.verbs.values() if not verb.purpose.endswith(".")] == []
