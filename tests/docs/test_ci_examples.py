"""The composite action and the examples of docs/in-ci.md do what they are written for: their commands are run."""

from __future__ import annotations

import configparser
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped] # ships no types
import pytest
import yaml
from junitparser.xunit2 import JUnitXml

from rebalance_check.model.vocabulary.events import Event, PartitionsAssigned, RunEnded
from rebalance_check.properties.history import write_history

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "in-ci.md").read_text(encoding="utf-8")
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SCHEMA = json.loads((ROOT / "tests" / "data" / "ci" / "github-action.schema.json").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{ (\S+) \}\}")

PYTHON = f"""#!/bin/bash
# In the place of Python: makes an environment whose pip notes what it installs, and has this package's command.
mkdir -p "$3/bin"
printf '#!/bin/bash\\necho "$@" > "$(dirname "$0")/installed"\\n' > "$3/bin/pip"
printf '#!/bin/bash\\nexec {sys.executable} -m rebalance_check "$@"\\n' > "$3/bin/rebalance-check"
chmod +x "$3"/bin/*
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout whose tests have written two histories: one holds, one does not."""
    held: list[Event] = [PartitionsAssigned(source="m0", seq=0, member="m0", generation=1, partitions=("t-0",))]
    twice = [*held, PartitionsAssigned(source="m1", seq=0, member="m1", generation=1, partitions=("t-0",))]
    write_history(tmp_path / "build" / "histories" / "held.jsonl", [*held, RunEnded(source="harness", seq=0)])
    write_history(tmp_path / "build" / "histories" / "deep" / "twice.jsonl", twice)
    return tmp_path


def bash(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run as GitHub does with ``shell: bash``."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True,
        env=os.environ | environment, check=False,
    )  # fmt: skip


def run_action(folder: Path, **inputs: str) -> tuple[int, str, dict[str, str]]:
    """Its steps one after the other: the exit code of the last that ran, what was printed, and the outputs."""
    runner = folder / "runner"
    runner.mkdir()
    python = runner / "python"
    python.write_text(PYTHON, encoding="utf-8")
    python.chmod(0o755)
    defaults = {name: given.get("default", "") for name, given in ACTION["inputs"].items()}
    values = {f"inputs.{name}": value for name, value in (defaults | {"python": str(python)} | inputs).items()}
    values |= {"github.action_path": str(ROOT), "runner.temp": str(runner)}
    files = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    said = ""
    for step in ACTION["runs"]["steps"]:
        env = {name: EXPRESSION.sub(lambda found: values[found[1]], text) for name, text in step["env"].items()}
        done = bash(step["run"], folder, **env, **files, GITHUB_WORKSPACE=str(folder))
        said += done.stdout + done.stderr
        if done.returncode:
            break
    written = (folder / "GITHUB_OUTPUT").read_text(encoding="utf-8").splitlines()
    return done.returncode, said, dict(line.split("=", 1) for line in written)


def test_the_action_is_one_by_the_schema__and_takes_nothing_into_a_script_but_by_the_environment() -> None:
    jsonschema.Draft7Validator(SCHEMA).validate(ACTION)
    assert [step["name"] for step in ACTION["runs"]["steps"] if EXPRESSION.search(step["run"])] == []


def test_the_action_installs_the_package_that_it_came_with(folder: Path) -> None:
    run_action(folder, histories="build/histories/held.jsonl")
    said = (folder / "runner" / "rebalance-check" / "bin" / "installed").read_text(encoding="utf-8")
    assert said == f"install --quiet {ROOT}[report]\n"


def test_the_action_passes_on_what_holds(folder: Path) -> None:
    code, said, outputs = run_action(folder, histories="build/histories/held.jsonl", options="--invariant ownership")
    assert (code, outputs) == (0, {"exit-code": "0"}), said
    assert (folder / "GITHUB_STEP_SUMMARY").read_text(encoding="utf-8").startswith("## rebalance-check judge: held")


def test_the_action_fails_on_what_is_violated__with_its_files(folder: Path) -> None:
    options = "--separate --invariant no_double_ownership"
    code, said, outputs = run_action(folder, histories="build/**/*.jsonl\n", options=options)
    assert (code, outputs) == (10, {"exit-code": "10"}), said
    assert "::error file=build/histories/deep/twice.jsonl,line=2,title=no_double_ownership is violated::" in said
    suites = {suite.name: suite.failures for suite in JUnitXml.fromfile(str(folder / "rebalance-check.xml"))}
    assert suites == {"build/histories/held.jsonl": 0, "build/histories/deep/twice.jsonl": 1}
    log = json.loads((folder / "rebalance-check.sarif").read_text(encoding="utf-8"))
    assert len(log["runs"][0]["results"]) == 1


def test_the_action_fails_where_there_is_nothing_to_judge(folder: Path) -> None:
    code, said, outputs = run_action(folder, histories="build/none/*.jsonl")
    assert (code, outputs) == (2, {"exit-code": "2"})
    assert "::error title=rebalance-check::no file is named build/none/*.jsonl" in said


def block(language: str, holding: str) -> str:
    """The one block of the page in this language that holds a word."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (one,) = [text for text in found if holding in text]
    assert isinstance(one, str)
    return one


def test_the_workflow_gives_the_action_inputs_that_it_has__and_uploads_what_it_writes() -> None:
    workflow = yaml.safe_load(block("yaml", "uses:"))
    (job,) = workflow["jobs"].values()
    ours = [step for step in job["steps"] if "rebalance-check" in step.get("uses", "")]
    assert [set(step["with"]) - set(ACTION["inputs"]) for step in ours] == [set()]
    uploads = [step["with"] for step in job["steps"] if "upload" in step.get("uses", "")]
    assert {"sarif_file": ACTION["inputs"]["sarif"]["default"]} in uploads


def test_the_tox_environment_judges_what_was_recorded(folder: Path, tmp_path: Path) -> None:
    tox = configparser.RawConfigParser()
    tox.read_string(block("ini", "[testenv:histories]"))
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "rebalance-check"
    program.write_text(f'#!/bin/bash\nexec {sys.executable} -m rebalance_check "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    done = bash(tox["testenv:histories"]["commands"], folder, PATH=f"{programs}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {suite.name for suite in JUnitXml.fromfile(str(folder / "build" / "verdicts.xml"))} == {
        "build/histories/held.jsonl"
    }
