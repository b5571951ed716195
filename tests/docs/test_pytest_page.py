"""The test files that docs/pytest.md shows run as the page says, and print what it says."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_check.pytest_plugin import settings

PAGE = (Path(__file__).parents[2] / "docs" / "pytest.md").read_text(encoding="utf-8")
FILE = re.compile(
    r"^```python (test_\w+\.py)[^\n]*\n(.*?)^```\n\n```console\n\$ pytest ([^\n]*)\n(.*?)^```$", re.M | re.S
)
EXAMPLES = FILE.findall(PAGE)


def test_each_test_file_of_the_page_has_its_command() -> None:
    assert len(EXAMPLES) == len(re.findall(r"^```python", PAGE, re.MULTILINE)) == 3


@pytest.mark.parametrize(("name", "code", "arguments", "shown"), EXAMPLES, ids=[each[0] for each in EXAMPLES])
def test_a_test_file_of_the_page_runs_as_shown(
    name: str, code: str, arguments: str, shown: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(code, encoding="utf-8")
    quiet = ["--rootdir", str(tmp_path), "--color=no", "-W", "ignore::DeprecationWarning"]  # which kafka-python causes
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *quiet, *shlex.split(arguments)],
        capture_output=True, text=True, cwd=tmp_path, check=False, env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, result.stdout, flags), result.stdout + result.stderr


def test_the_page_has_each_option() -> None:
    rows = set(re.findall(r"^\| `--(rebalance-[a-z-]+)", PAGE, re.MULTILINE))
    parser = pytest.Parser(_ispytest=True)
    settings.add_options(parser)
    options = parser.getgroup(settings.GROUP).options
    assert rows == {name.removeprefix("--") for option in options for name in option.names()}
