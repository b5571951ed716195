"""The outputs of ``diagnose``: its JSON, its page, and all of them without the names of a user."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.parsed_page import ParsedPage

Command = Callable[..., Any]
Golden = Callable[[str, str], None]

LOGS: Final = Path(__file__).parents[1] / "data" / "diagnose" / "logs"
STALLED: Final = (
    LOGS / "broker" / "3.9.2" / "pay-polltimeout.log",
    *(LOGS / "client" / "java-3.9.2" / f"pay-polltimeout-m{number}.log" for number in (1, 2)),
)
NAMES: Final = ("pay-polltimeout", "m1-", "m2-", "clientId=m", "127.0.0.1", "2b4e")


def test_the_json__is_one_object(command: Command, golden: Golden) -> None:
    answer = command("diagnose", *STALLED, "--json")
    golden("diagnose-json.txt", json.dumps(answer.document, indent=1) + "\n")


def test_a_redacted_diagnosis__says_the_same_of_other_names(command: Command, golden: Golden) -> None:
    answer = command("diagnose", *STALLED, "--redact")
    assert answer.code == 0
    golden("diagnose-redacted.txt", answer.out)


def test_no_file_that_it_writes__has_a_name(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    outputs = ("--html", tmp_path / "page.html", "--junit", tmp_path / "junit.xml", "--github", "--json")
    answer = command("diagnose", *STALLED, "--redact", "--fail-on", "cost", "--group", "pay-polltimeout", *outputs)
    assert answer.code == 11
    assert [one["group"] for one in answer.document["groups"]] == ["group-1"]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    lanes = ParsedPage(page).data("group-0")["lanes"]
    assert [lane["name"] for lane in lanes[:4]] == ["generations", "client-1", "client-2", "topic-1-0"]
    written = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert set(written) == {"page.html", "junit.xml", "summary.md"}
    for name, text in (written | {"out": answer.out, "err": answer.err}).items():
        assert [each for each in NAMES if each in text] == [], name
