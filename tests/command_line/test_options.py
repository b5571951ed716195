"""The options of all commands: few, of one meaning, asked for in time; wrong ones are refused with the nearest."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import click
import pytest

from rebalance_check.cli import COMMANDS, cli
from rebalance_check.commands import _extras
from rebalance_check.commands._options import Rare

Command = Callable[..., Any]

MOST_SHOWN = 20
"""So many options a command shows in ``--help``, at most."""


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by its name, those of groups, too."""
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", each) for inner, each in command.commands.items())
        else:
            yield name, command


def options_of(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option)]


@pytest.mark.parametrize(("name", "declared"), [pytest.param(*each, id=each[0]) for each in commands()])
def test_a_command_shows_twenty_options_at_most__and_the_rest_behind_help_all(
    name: str, declared: click.Command, command: Command
) -> None:
    rare = [one for one in options_of(declared) if isinstance(one, Rare)]
    assert len(options_of(declared)) - len(rare) <= MOST_SHOWN
    common, every = (command(*name.split(), option).out for option in ("--help", "--help-all"))
    assert all(f"\n  {one.opts[0]}" not in common for one in rare)
    assert all(f"\n  {one.opts[0]}" in (every if rare else common) for one in options_of(declared))
    assert ("--help-all" in common) == bool(rare)


def test_an_option_of_one_name_means_the_same_everywhere() -> None:
    """It has the same kind of value."""
    kinds: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for _, command in commands():
        for one in options_of(command):
            value = one.metavar or one.type.name
            kinds[one.opts[-1]].add((value, one.is_flag, one.nargs))
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (("assignrs",), "Did you mean assignors?"),
        (("replay",), "Did you mean compare model BROKER [ADDRESS], or explore ADDRESS?"),
        (("conform", "brker"), "No such command 'brker'"),
        (("zzz",), "`rebalance-check --help` lists the commands"),
        (("fuzz", "--sheds", "0:1"), "--seeds"),
        (("explore", "--live"), "--liveness"),
        (("judge", "x", "--invariant", "no_double_owner"), "no_double_ownership"),
    ],
)
def test_a_wrong_name_is_refused_with_the_nearest_one(command: Command, arguments: tuple[str, ...], near: str) -> None:
    answer = command(*arguments)
    assert (answer.code, near in answer.err) == (2, True), answer.err


@pytest.mark.parametrize(
    ("arguments", "library", "extra"),
    [
        (("explore", "--liveness"), "networkx", "explore"),
        (("explore", "--html", "x.html"), "jinja2", "report"),
        (("fuzz", "--spark", "local[*]"), "pyspark", "spark"),
        (("fuzz", "--seeds", "0:1", "--out", "table"), "pyarrow", "tables"),
        (("fuzz", "--seeds", "0:1", "--junit", "x.xml"), "junitparser", "report"),
        (("judge", "nowhere.jsonl", "--junit", "x.xml"), "junitparser", "report"),
        (("compare", "embedded", "embedded", "--junit", "x.xml"), "junitparser", "report"),
        (("run", "--html", "x.html"), "jinja2", "report"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_extra_is_asked_for_before_the_work_begins(
    command: Command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], library: str, extra: str
) -> None:
    monkeypatch.setattr(_extras, "find_spec", lambda name: None if name == library else find_spec(name))
    answer = command(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        f"rebalance-check: this needs {library}, which is not installed: pip install 'rebalance-check[{extra}]'\n"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_learns_how_to_complete(shell: str) -> None:
    program = "from rebalance_check.cli import main; main()"
    asked = {"_REBALANCE_CHECK_COMPLETE": f"{shell}_source"}
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=asked, check=False)
    if "version" in said.stderr:
        pytest.skip(f"no {shell} of a release that completes is installed")
    assert (said.returncode, said.stderr) == (0, "")
    assert f"_REBALANCE_CHECK_COMPLETE={shell}_complete" in said.stdout


def test_commands_and_options_are_completed() -> None:
    program = "from rebalance_check.cli import main; main()"
    for words, completed in (("rebalance-check comp", "compare"), ("rebalance-check fuzz --shri", "--shrink")):
        asked = {
            "_REBALANCE_CHECK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")),
        }  # fmt: skip
        said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=asked, check=False)
        assert (said.returncode, said.stdout) == (0, f"plain,{completed}\n"), said.stderr
