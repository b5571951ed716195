"""The lock service of docs/writing-a-subject.md is fuzzed from the command line, and prints what is shown."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_documents import assert_shown

PAGE = (Path(__file__).parents[2] / "docs" / "writing-a-subject.md").read_text(encoding="utf-8")
FILE = re.compile(r"<!-- file: (?P<name>\S+) -->\n```python\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(
    r"^```sh\n(?P<line>rebalance-check [^\n]+)\n```\n\n```text\n(?P<shown>.*?)^```$", re.MULTILINE | re.DOTALL
)
COMMANDS = [(found["line"], found["shown"]) for found in COMMAND.finditer(PAGE)]
HELD, VIOLATED = 0, 10


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the command runs: it holds the file that the page shows."""
    for found in FILE.finditer(PAGE):
        (tmp_path / found["name"]).write_text(found["body"], encoding="utf-8")
    return tmp_path


def test_the_lock_service_has_at_most_60_lines(folder: Path) -> None:
    assert len((folder / "locks.py").read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.parametrize(("line", "shown", "code"), [(*COMMANDS[0], HELD), (*COMMANDS[1], VIOLATED)])
def test_the_commands_print_what_the_page_shows(line: str, shown: str, code: int, folder: Path) -> None:
    call = [sys.executable, "-m", "rebalance_check.cli", *shlex.split(line)[1:]]
    done = subprocess.run(
        call, capture_output=True, text=True, cwd=folder, check=False, env=os.environ | {"COLUMNS": "120"}
    )
    assert done.returncode == code, done.stderr
    assert_shown(shown, done.stdout)


def test_the_replayed_seed_breaks_the_same_claim(folder: Path) -> None:
    call = [sys.executable, "-m", "rebalance_check.cli", *shlex.split(COMMANDS[1][0])[1:]]
    said = subprocess.run(call, capture_output=True, text=True, cwd=folder, check=False).stdout
    (first, *_) = re.findall(r"replay   rebalance-check (.*)", said)
    again = subprocess.run([*call[:3], *shlex.split(first)], capture_output=True, text=True, cwd=folder, check=False)
    assert again.returncode == VIOLATED
    assert "locks-0 is owned by w0 and w1 in generation 1" in again.stdout
