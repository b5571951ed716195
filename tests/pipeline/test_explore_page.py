"""What the page about exploring shows of Spark: its commands run, one after the other, and print what it says."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "exploring.md"

COMMAND = re.compile(r"^\$ (?P<command>.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)


def commands() -> list[tuple[str, str]]:
    (block,) = re.findall(r"^```console needs-java\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    return [(match["command"], match["output"]) for match in COMMAND.finditer(block)]


@pytest.mark.spark
def test_the_commands_of_the_page_print_what_it_says(tmp_path: Path) -> None:
    environment = os.environ | {"COLUMNS": "120", "NO_COLOR": "1"}
    for command, shown in commands():
        result = subprocess.run(
            [sys.executable, "-m", "rebalance_check.cli", *shlex.split(command)[1:]],
            capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
        )  # fmt: skip
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(shown, result.stdout, flags), result.stdout + result.stderr
