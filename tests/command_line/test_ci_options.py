"""Output for CI systems: JUnit XML, annotations and a summary for GitHub, SARIF; never another exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped] # ships no types
import pytest
from junitparser.xunit2 import JUnitXml

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._console import Console
from rebalance_check.commands.run import Part
from rebalance_check.commands.run import finish as finish_run
from rebalance_check.model.vocabulary.events import Event, MemberStarted, PartitionsAssigned, RunEnded
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.history import write_history
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult, Place
from rebalance_check.report.github import MOST_EXPLAINED, command, summary, workflow_commands
from rebalance_check.report.sarif import sarif_log

Command = Callable[..., Any]

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "ci" / "sarif-2.1.0.schema.json").read_text(encoding="utf-8"))
ONE_CLAIM = ("--invariant", "no_double_ownership")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as GitHub's runner sets it up: the workspace, and a file for the summary of the step."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return tmp_path


@pytest.fixture
def broken(workspace: Path, double_ownership: Sequence[Event]) -> Path:
    """A history below the workspace that breaks `no_double_ownership` at its line 18."""
    path = workspace / "build" / "of two" / "h.jsonl"
    write_history(path, double_ownership)
    return path


def read_sarif(path: Path) -> dict[str, Any]:
    """The log, valid by the schema of the format."""
    log = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def line_of(location: dict[str, Any]) -> tuple[str, int]:
    place = location["physicalLocation"]
    return place["artifactLocation"]["uri"], place["region"]["startLine"]


# ------------------------------------------------------------------------------------------------ SARIF


def test_a_violation_stands_at_its_line_of_the_history__as_do_its_reasons(broken: Path, command: Command) -> None:
    assert command("judge", broken, *ONE_CLAIM, "--sarif", "out/log.sarif").code == 10
    run = read_sarif(Path("out/log.sarif"))
    (result,) = run["results"]
    uri = "build/of%20two/h.jsonl"
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "no_double_ownership"
    assert [line_of(each) for each in result["locations"]] == [(uri, 18)]
    lines = broken.read_text(encoding="utf-8").splitlines()
    for each in result["relatedLocations"]:
        assert line_of(each)[0] == uri
        assert f"line {line_of(each)[1]}" in each["message"]["text"]
    assert '"event":"PartitionsAssigned"' in lines[17]
    assert '"member":"m1"' in lines[17]
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 10, "toolExecutionNotifications": []}]


def test_a_file_outside_the_workspace_keeps_its_path(
    broken: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(broken.parent / "elsewhere"))
    command("judge", broken, *ONE_CLAIM, "--sarif", "log.sarif")
    (result,) = read_sarif(Path("log.sarif"))["results"]
    assert line_of(result["locations"][0])[0] == str(broken).replace(" ", "%20")


def test_parts_of_one_run__have_their_violation_in_the_part_that_shows_it(workspace: Path, command: Command) -> None:
    owned: dict[str, Any] = {"group": "g", "generation": 1, "partitions": ("t-0",), "time_ms": 0}
    for name in ("m0", "m1"):
        started = MemberStarted(source=name, seq=0, member=name, protocol="eager", group="g")
        write_history(f"{name}.jsonl", [started, PartitionsAssigned(source=name, seq=1, member=name, **owned)])
    attested = (("g", "m0", 1), ("g", "m1", 1))
    write_history("end.jsonl", [RunEnded(source="harness", seq=0, group="g", time_ms=1, last=attested)])
    assert command("judge", "m0.jsonl", "m1.jsonl", "end.jsonl", *ONE_CLAIM, "--sarif", "log.sarif").code == 10
    (result,) = read_sarif(Path("log.sarif"))["results"]
    assert line_of(result["locations"][0])[1] == 2
    assert {line_of(each)[0] for each in result["relatedLocations"]} == {"m0.jsonl", "m1.jsonl"}


def test_what_is_undecided_is_a_notification__so_that_no_log_looks_like_a_pass(
    workspace: Path, double_ownership: Sequence[Event], command: Command
) -> None:
    write_history("cut.jsonl", double_ownership[:3])
    assert command("judge", "cut.jsonl", "--invariant", "rebalance_completes", "--sarif", "log.sarif").code == 12
    run = read_sarif(Path("log.sarif"))
    (invocation,) = run["invocations"]
    assert run["results"] == []
    assert invocation["executionSuccessful"] is False
    assert "rebalance_completes is undecided" in invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_a_file_that_cannot_be_read__is_a_notification(broken: Path, command: Command) -> None:
    Path("bad.jsonl").write_text("no event\n", encoding="utf-8")
    assert command("judge", broken, "bad.jsonl", "--separate", *ONE_CLAIM, "--sarif", "log.sarif").code == 10
    (invocation,) = read_sarif(Path("log.sarif"))["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert "input_is_read is undecided for bad.jsonl" in notification["message"]["text"]


def test_claims_that_should_have_been_tested__are_a_notification(workspace: Path, command: Command) -> None:
    write_history("h.jsonl", [RunEnded(source="harness", seq=0)])
    assert command("judge", "h.jsonl", *ONE_CLAIM, "--sarif", "log.sarif").code == 12
    (invocation,) = read_sarif(Path("log.sarif"))["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert "nothing could have broken no_double_ownership" in notification["message"]["text"]


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (("fuzz", "--seeds", "0:1"), "No such option '--sarif'"),
        (("judge", "."), "--sarif does not go together with the folder of a campaign"),
    ],
)
def test_sarif_is_refused_where_no_file_has_the_lines(
    arguments: Sequence[str], advice: str, workspace: Path, command: Command
) -> None:
    said = command(*arguments, "--sarif", "log.sarif")
    assert (said.code, advice in said.err, Path("log.sarif").exists()) == (2, True, False)


def test_names_of_a_history_cannot_break_the_format() -> None:
    strange = Place(Path("a\udcff b#%.jsonl"), 3)
    broken = ClaimResult(subject="s\x1b", claim="c", outcome=Outcome.VIOLATED, text="m\x1b[31m\n\x00", place=strange)
    log = sarif_log([broken], ExitCode.SAFETY, Path("/nowhere"))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    (result,) = log["runs"][0]["results"]
    assert line_of(result["locations"][0])[0] == "a%FF%20b%23%25.jsonl"
    assert "\x1b" not in json.dumps(log, ensure_ascii=False)


# ------------------------------------------------------------------------------------------------ GitHub


def test_a_violation_is_an_error_at_its_line__and_the_summary_explains_it(broken: Path, command: Command) -> None:
    said = command("judge", broken, *ONE_CLAIM, "--github")
    (annotation,) = [line for line in said.out.splitlines() if line.startswith("::")]
    assert annotation.startswith(
        "::error file=build/of two/h.jsonl,line=18,title=no_double_ownership is violated::no_double_ownership: t-1 is"
    )
    assert said.out.splitlines()[-1].startswith("verdict: violated")
    text = Path("summary.md").read_text(encoding="utf-8")
    assert text.startswith("## rebalance-check judge: violated\n\n| subject | violated |")
    assert "| 1 | 0 | 0 | 0 |" in text
    assert "because  m0 holds t-1 since step 9" in text


def test_a_summary_is_added_to__and_without_the_variable_there_is_none(
    broken: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        command("judge", broken, *ONE_CLAIM, "--github")
    assert Path("summary.md").read_text(encoding="utf-8").count("## rebalance-check") == 2
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert command("judge", broken, *ONE_CLAIM, "--github").code == 10


def test_with_json__annotations_leave_standard_output_alone(broken: Path, command: Command) -> None:
    said = command("judge", broken, *ONE_CLAIM, "--github", "--json")
    assert said.document["verdict"] == "violated"
    assert "::error" in said.err


def test_what_would_end_a_command_is_escaped() -> None:
    assert command("error", {"file": "a,b:c%", "line": "1"}, "x%\n::error::y\r\x1b") == (
        "::error file=a%2Cb%3Ac%25,line=1::x%25%0A::error::y\\r\\x1b"
    )
    assert command("notice", {}, "x") == "::notice::x"


def test_a_doubt_is_one_error_for_all_claims__and_what_is_known_is_a_notice() -> None:
    doubt = ClaimResult(subject="h", claim="a", outcome=Outcome.UNDECIDED, text="no end")
    known = ClaimResult(subject="h", claim="c", outcome=Outcome.HELD, notes=("known of x 1.0",))
    assert list(workflow_commands([doubt, replace(doubt, claim="b"), known], Path.cwd())) == [
        "::notice title=h::known of x 1.0",
        "::error title=undecided::no end%0Aa (h), b (h)",
    ]


def test_a_summary_stays_below_what_github_takes() -> None:
    long = ClaimResult(subject="a|b <x>", claim="c", outcome=Outcome.VIOLATED, text="```\n" + "x" * 100_000)
    text = summary("t", [long] * (MOST_EXPLAINED + 7))
    assert len(text.encode()) < 2**20
    assert "7 more violations" in text
    assert r"| a\|b \<x\> | 57 |" in text
    assert text.count("\n````\n") == MOST_EXPLAINED


# ------------------------------------------------------------------------------------------------ JUnit


def outcomes(path: Path) -> dict[str, dict[str, int]]:
    """Per suite, how many cases it has of each kind."""
    return {
        suite.name: {"tests": suite.tests, "failures": suite.failures, "errors": suite.errors, "skipped": suite.skipped}
        for suite in JUnitXml.fromfile(str(path))
    }


def test_each_claim_is_a_case__in_the_suite_of_its_history(broken: Path, command: Command) -> None:
    command("judge", broken, "--junit", "out/j.xml")
    ((name, found),) = outcomes(Path("out/j.xml")).items()
    document = command("judge", broken, "--json").document["verdicts"].values()
    counts = {kind: sum(each["verdict"] == kind for each in document) for kind in Outcome}
    assert name == str(broken)
    assert found == {
        "tests": len(document), "failures": counts[Outcome.VIOLATED], "errors": counts[Outcome.UNDECIDED],
        "skipped": counts[Outcome.UNTESTED],
    }  # fmt: skip
    assert found["failures"] > 0


SMALL = ("--bounds", "members=2,partitions=1,generations=2,crashes=0")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("fuzz", "--seeds", "0:3", "--record", "f.jsonl"), 0),
        (
            ("fuzz", "--seeds", "0:5", "--mutant", "every-member-leads", "--protocol", "eager", "--record", "f.jsonl"),
            10,
        ),
        (("compare", "embedded", "embedded", "--seeds", "0:1", "--steps", "20"), 0),
        (("explore", *SMALL, "--interpreted"), 0),
        (("explore", *SMALL, "--interpreted", "--max-states", "10"), 12),
        (("compare", "model", "ours", *SMALL), 0),
        (("explore", *SMALL, "--walks", "3", "--steps", "10"), 0),
        (("compare", "model", "embedded", "--walks", "2", "--steps", "10", "--out", "r"), 0),
        (("explore", "v1/eager?members=1&partitions=1&generations=1&crashes=0/"), 0),
        (("live", "--protocol", "status", "--members", "1", "--steps", "2", "--out", "l"), 0),
    ],
    ids=lambda value: "-".join(value[:4]) if isinstance(value, tuple) else "",
)
def test_every_command_that_judges_writes_junit(
    arguments: Sequence[str], code: int, workspace: Path, command: Command
) -> None:
    assert command(*arguments, "--junit", "j.xml", "--github").code == code
    found = outcomes(Path("j.xml")).values()
    assert sum(each["tests"] for each in found) > 0
    assert sum(each["failures"] for each in found) > 0 or code != 10
    assert sum(each["errors"] for each in found) > 0 or code != 12
    assert (sum(each["failures"] + each["errors"] for each in found) == 0) == (code == 0)
    assert Path("summary.md").read_text(encoding="utf-8").startswith(f"## rebalance-check {arguments[0]}: ")


def test_the_run_that_a_campaign_keeps_has_its_violation_at_a_line(workspace: Path, command: Command) -> None:
    asked = ("fuzz", "--seeds", "0:5", "--mutant", "every-member-leads", "--protocol", "eager", "--record", "f.jsonl")
    assert command(*asked, "--junit", "j.xml").code == 10
    assert "rebalance-check fuzz --seeds " in Path("j.xml").read_text(encoding="utf-8")
    assert command("judge", "f.jsonl", "--sarif", "log.sarif").code == 10
    results = read_sarif(Path("log.sarif"))["results"]
    lines = Path("f.jsonl").read_text(encoding="utf-8").count("\n")
    placed = [line_of(each["locations"][0]) for each in results if "locations" in each]
    assert placed
    assert all(name == "f.jsonl" and 1 <= line <= lines for name, line in placed)


def test_the_parts_of_the_whole_job_are_cases(workspace: Path) -> None:
    parts = [
        Part("explore", "eager", "21 states", ExitCode.HELD, {}),
        Part("fuzz", "local", "2 runs", ExitCode.LIVENESS, {}, ["rebalance_completes: m0 waits"]),
    ]
    assert finish_run(Console(as_json=False), parts, CiOptions(junit=Path("j.xml"))) == 11
    assert outcomes(Path("j.xml"))["run"] == {"tests": 2, "failures": 1, "errors": 0, "skipped": 0}
