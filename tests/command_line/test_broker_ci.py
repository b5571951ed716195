"""What ``broker --judge`` gives CI systems: the verdicts of the run, with lines where it keeps a record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka", reason="the embedded broker needs the extra 'brokers'")

from junitparser.xunit2 import JUnitXml, TestCase

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.wire.raw_group import RawGroup
from rebalance_check.properties.exit_codes import ExitCode
from tests.command_line.broker_runs import Run, join, reply_to

Command = Callable[..., Any]
CLAIM = "requests_are_fenced"


def let_a_stale_heartbeat_pass(run: Run) -> None:
    """A coordinator that accepts the heartbeat of a generation that is over."""
    with planted("heartbeat-accepts-stale-generation"), run as bootstrap, RawGroup(bootstrap, "g") as group:
        member_id = reply_to(group, join()).member_id
        reply_to(group, join(member_id, b"y"))
        reply_to(group, msg.HeartbeatRequest(group_id="g", version=3, generation_id=1, member_id=member_id))
        group.barrier()
    assert run.code == ExitCode.SAFETY


def failure_of(junit: Path) -> str:
    (text,) = (
        result.text for suite in JUnitXml.fromfile(str(junit)) for case in suite if isinstance(case, TestCase)
        if case.name == CLAIM for result in case.result
    )  # fmt: skip
    return str(text)


def test_a_violation_has_its_line_of_the_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    record, junit, sarif = (tmp_path / name for name in ("history.jsonl", "verdicts.xml", "verdicts.sarif"))
    run = Run(monkeypatch, record=record, ci=CiOptions(junit, github=True, sarif=sarif))
    let_a_stale_heartbeat_pass(run)
    (result,) = (one for one in json.loads(sarif.read_text())["runs"][0]["results"] if one["ruleId"] == CLAIM)
    line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert '"event":"HeartbeatReplied"' in record.read_text().splitlines()[line - 1]
    assert f"::error file=history.jsonl,line={line},title={CLAIM} is violated::" in run.said.getvalue()
    assert f"judge {record} --invariant {CLAIM}" in failure_of(junit)


def test_without_a_record__a_violation_has_its_reasons(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    junit = tmp_path / "verdicts.xml"
    let_a_stale_heartbeat_pass(Run(monkeypatch, ci=CiOptions(junit)))
    assert f"{CLAIM}: " in failure_of(junit)
    assert "because" in failure_of(junit)
    assert "rebalance-check judge" not in failure_of(junit)


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (("--junit", "v.xml"), "nothing is judged: add --judge"),
        (("--judge", "--sarif", "v.sarif"), "add --record FILE"),
    ],
)
def test_what_could_not_be_written_is_refused_before_it_listens(
    command: Command, options: tuple[str, ...], advice: str
) -> None:
    answer = command("broker", "--port", 0, "--seconds", 0, *options)
    assert (answer.code, answer.out) == (2, "")
    assert advice in answer.err
