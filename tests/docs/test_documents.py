"""The documents are true: their Python runs and prints what they say, their links lead somewhere."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from rebalance_check.cli import cli

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "bench").glob("*.md")])
SAMPLES = ROOT / "tests/data/diagnose"
"""The real logs that the operators' page shows."""
FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)(?P<target>[^)#]+)")
MARKED = re.compile(r"<!-- command: (?P<name>\w+) -->\n```sh\n(?P<command>.*?)\n```", re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(match["kind"], match["body"]) for match in FENCE.finditer(page.read_text(encoding="utf-8"))]


def examples() -> list[tuple[str, str, str]]:
    """Every Python block of the documents, with the text block that follows it as its output.

    A block that needs more than Python says so behind the language (``python needs-java``), and a test of its own
    runs it. One that uses a library without types (``python untyped-library``) runs here, and no type checker reads it.
    """
    found = []
    for page in PAGES:
        fenced = blocks(page)
        for place, (kind, body) in enumerate(fenced):
            if kind in {"python", "python untyped-library"}:
                after = fenced[place + 1] if place + 1 < len(fenced) else ("", "")
                found.append((f"{page.name}-{place}", body, after[1] if after[0] == "text" else ""))
    return found


def consoles() -> list[tuple[str, str, str]]:
    """Every `$ command` of a console block, with the output that is shown below it; `pytest.md` has its own test."""
    return [
        (f"{page.name}: {command}", command, output)
        for page in PAGES
        for kind, body in blocks(page)
        if kind == "console" and page.name != "pytest.md"
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE)
    ]


def assert_shown(shown: str, printed: str) -> None:
    """The output is the one shown; `...` in it stands for anything, and spaces do not matter."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, printed, flags), f"shown:\n{shown}\nprinted:\n{printed}"


@pytest.mark.parametrize(("code", "shown"), [pytest.param(c, s, id=n) for n, c, s in examples()])
def test_python_of_the_documents_runs_and_prints_what_they_say(code: str, shown: str, tmp_path: Path) -> None:
    program = tmp_path / "example.py"
    program.write_text(code, encoding="utf-8")
    result = subprocess.run([sys.executable, program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert result.returncode == 0, result.stderr
    assert_shown(shown, result.stdout)


@pytest.mark.parametrize(("command", "shown"), [pytest.param(c, s, id=n) for n, c, s in consoles()])
def test_commands_of_the_documents_print_what_they_say(command: str, shown: str, tmp_path: Path) -> None:
    program, *arguments = shlex.split(command)
    assert program == "rebalance-check", f"only commands of this project are run here, not {program}"
    folder = SAMPLES if arguments[0] == "diagnose" else tmp_path
    environment = os.environ | {"COLUMNS": "120", "NO_COLOR": "1"}
    result = subprocess.run(
        [sys.executable, "-m", "rebalance_check.cli", *arguments],
        capture_output=True, text=True, cwd=folder, env=environment, check=False,
    )  # fmt: skip
    assert result.returncode in {0, 10, 11, 12}, result.stderr
    assert_shown(shown, result.stdout)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = [match["target"] for match in LINK.finditer(text)]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def written_commands() -> list[tuple[str, list[str]]]:
    """Every command line that stands in a page: in a block, as output suggests it, or between backticks."""
    found = set[tuple[str, str]]()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found |= {(page.name, line) for line in re.findall(r"`(rebalance-check [a-z][^`\n]*)`", FENCE.sub("", text))}
        for _, body in blocks(page):
            lines = re.findall(r"^(?:\$ | *(?:replay|go on with) +)?(rebalance-check [a-z][^\n]*)", body, re.MULTILINE)
            found |= {(page.name, line) for line in lines if "..." not in line}
    return [(name, shlex.split(line, comments=True)[1:]) for name, line in sorted(found)]


@pytest.mark.parametrize(("name", "arguments"), written_commands(), ids=lambda value: str(value)[:60])
def test_command_lines_of_the_documents_have_the_options_that_they_show(
    name: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # An option may ask for an extra that is not installed here; it exists all the same.
    monkeypatch.setattr("rebalance_check.commands._extras.find_spec", lambda library: library)
    # Commands keep the help option that their first context gives them: it is given the settings of the real one.
    group, rest = click.Context(cli, **cli.context_settings), arguments
    while rest and isinstance(group.command, click.Group):
        _, command, rest = group.command.resolve_command(group, rest)
        assert command is not None, f"{name} names no sub-command"
        if rest:  # a command alone is spoken of, in a sentence
            group = command.make_context(command.name, list(rest), parent=group)


def test_command_lines_are_found_wherever_they_stand() -> None:
    names = {name for name, _ in written_commands()}
    of_record = [arguments for name, arguments in written_commands() if name == "TRACK_RECORD.md"]
    assert len(of_record) >= 70
    assert names >= {"README.md", "TRACK_RECORD.md", "campaigns.md", "virtual-kafka.md", "commands.md", "clients.md"}


def test_the_readme_has_exactly_two_commands_for_a_new_machine() -> None:
    commands = {m["name"]: m["command"] for m in MARKED.finditer((ROOT / "README.md").read_text(encoding="utf-8"))}
    assert commands == {
        "main": "python3 -m venv .venv && .venv/bin/pip install -e '.[all]' && .venv/bin/rebalance-check run",
        "tests": "python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox -e py",
    }
