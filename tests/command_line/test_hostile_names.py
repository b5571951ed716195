"""Names from histories, files and arguments reach a terminal escaped, and JSON as they are."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from rebalance_check import write_history
from rebalance_check.cli import run
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.report.terminal import suggested, visible, visible_lines

pytest.importorskip("hypothesis", reason="drawn names need the extra 'hypothesis'")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m",
    "title of the window": "\x1b]0;owned\x07",
    "a control sequence in one character": "\x9b2J",
    "an end": "a\x00b",
    "a line": "x\nverdict: held",
    "a carriage return": "x\rheld",
    "a line of Unicode": "x\u2028verdict: held\u2029\x85",
    "right to left": "\u202efdp.lnosj",
    "isolates": "\u2066a\u2069\u200f",
    "nothing to see": "\u200b\ufeff\u00ad\u2060",
    "delete": "held\x7f\x7f\x7f\x7f",
    "tags": "a\U000e0041",
}


def raw(text: str) -> set[str]:
    """The characters of an output that a terminal obeys; the line feeds are the program's own."""
    return {char for char in text if not char.isprintable() and char != "\n"}


def renamed(event: Event, name: str) -> Event:
    """The event with the name behind every text of it that is free: members, ids, groups, partitions, sources."""

    def marked(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(marked(item) for item in value)
        return f"{value}{name}" if isinstance(value, str) and value else value

    free = {"member", "member_id", "group", "source", "partitions", "owned_partitions", "assignments", "subject"}
    return replace(event, **{f.name: marked(getattr(event, f.name)) for f in fields(event) if f.name in free})


@contextlib.contextmanager
def captured() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Standard output and error as bytes, as a terminal would get them."""
    out, err = io.BytesIO(), io.BytesIO()
    texts = [io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in (out, err)]
    with contextlib.redirect_stdout(texts[0]), contextlib.redirect_stderr(texts[1]):
        yield out, err
        for text in texts:
            text.flush()
            text.detach()


def printed(*arguments: object) -> tuple[int, str]:
    with captured() as (out, err):
        code = run([str(argument) for argument in arguments])
        return code, (out.getvalue() + err.getvalue()).decode()


def hold_output_plain(folder: Path, history: list[Event], name: str) -> None:
    path = folder / "history.jsonl"
    write_history(path, [renamed(event, name) for event in history])
    for command in (["judge"], ["report"], ["report", "--last", 3], ["report", "--group", name], ["judge", "--json"]):
        code, text = printed(*command, path)
        assert code in {2, 10, 12}
        assert raw(text) == set(), command
    page = folder / "page.html"
    printed("judge", path, "--html", page)
    assert raw(page.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_history_with_hostile_names__is_shown_in_plain_characters(
    name: str, tmp_path: Path, double_ownership: list[Event]
) -> None:
    hold_output_plain(tmp_path, double_ownership, name)
    _, text = printed("judge", tmp_path / "history.jsonl", "--invariant", "no_double_ownership")
    assert visible(name) in text
    assert not any(line.startswith("verdict: held") for line in text.splitlines())


@given(name=st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_name_of_a_history__is_shown_in_plain_characters(
    name: str, tmp_path: Path, double_ownership: list[Event]
) -> None:
    path = tmp_path / "history.jsonl"
    write_history(path, [renamed(event, name) for event in double_ownership])
    for arguments in (["judge", "--invariant", "ownership"], ["judge", "--invariant", "ownership", "--json"]):
        code, text = printed(*arguments, path)
        assert (code, raw(text)) == (10, set())


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_json_is_exact(name: str, tmp_path: Path, double_ownership: list[Event]) -> None:
    path = tmp_path / "history.jsonl"
    write_history(path, [renamed(event, name) for event in double_ownership])
    with captured() as (out, _err):
        run(["judge", str(path), "--invariant", "no_double_ownership", "--json"])
        found = json.loads(out.getvalue())
    assert found["counterexample"]["events"][-1]["member"] == f"m1{name}"


ERRORS = (
    ["judge", "{}"],
    ["judge", "--invariant", "{}", "x"],
    ["report", "{}"],
    ["fuzz", "--seeds", "{}"],
    ["fuzz", "--faults", "{}"],
    ["fuzz", "--mutant", "{}"],
    ["fuzz", "--subject", "{}"],
    ["fuzz", "--out", "/proc/{}"],
    ["explore", "{}"],
    ["compare", "model", "{}"],
    ["compare", "model", "embedded", "{}"],
    ["live", "--clients", "{}"],
    ["live", "--broker", "{}"],
    ["assignors", "ours", "--input", "{}"],
    ["assignors", "{}"],
    ["mutants", "{}"],
    ["invariants", "{}"],
    ["explore", "--mutant", "{}"],
    ["explore", "--bounds", "{}"],
    ["run", "--seeds", "{}"],
    ["{}"],
    ["judge", "--{}", "x"],
)


@pytest.mark.parametrize("line", ERRORS, ids=" ".join)
def test_an_argument_that_does_not_serve__is_repeated_in_plain_characters(line: list[str]) -> None:
    name = "".join(HOSTILE.values()).replace("\0", "") + "\udcff\udc80"
    with captured() as (out, err):
        code = run([word.format(name) for word in line])
        text = out.getvalue().decode() + err.getvalue().decode()
    assert code == 2, text
    assert raw(text) == set()


@pytest.mark.parametrize("name", ["-x y.jsonl", "it's $HOME;`id`.jsonl", "a\nb\t%s\\n.jsonl", "\udcff\u202e.jsonl"])
def test_a_suggested_command__works_when_it_is_pasted(
    name: str, tmp_path: Path, double_ownership: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_history(Path(name), double_ownership)
    code, text = printed("judge", "--invariant", "no_double_ownership", "--", name)
    assert code == 10
    line = next(line for line in text.splitlines() if line.startswith("  replay "))
    pasted = (
        line.removeprefix("  replay ")
        .strip()
        .replace("rebalance-check", f"{shlex.quote(sys.executable)} -m rebalance_check.cli", 1)
    )
    done = subprocess.run(
        ["sh", "-c", pasted], capture_output=True, check=False, env=os.environ | {"LC_ALL": "C.UTF-8"}
    )
    assert done.returncode == 10, (pasted, done.stderr)
    assert b"t-1 is owned by m0 and m1" in done.stdout


def test_a_name_without_such_characters__stays_as_it_is() -> None:
    assert visible("t-1 über Москва 日本 \\x1b") == "t-1 über Москва 日本 \\x1b"
    assert visible_lines("a\nb\x1b") == "a\nb\\x1b"
    assert suggested("judge", Path("plain.jsonl")) == "rebalance-check judge plain.jsonl"
