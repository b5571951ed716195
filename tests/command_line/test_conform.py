"""``rebalance-check conform client``, whole: options in, a report in each form out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from junitparser.xunit2 import JUnitXml

Command = Callable[..., Any]

PROGRAM: Final = Path(__file__).parents[1] / "integration" / "kits" / "programs" / "our_consumer.py"
CLIENT: Final = ("conform", "client", "--members", "2")
WORDS: Final = ("--", sys.executable, PROGRAM, "{bootstrap}", "{group}", "{topic}", "eager")


def test_a_report_in_each_form(command: Command, tmp_path: Path) -> None:
    page, junit = tmp_path / "page.html", tmp_path / "junit.xml"
    options = ("--scenario", "joins", "--kip", "62", "--kip", "base", "--out", tmp_path / "out", "--seed", "3")
    answer = command(*CLIENT, *options, "--html", page, "--junit", junit, "--json", *WORDS)
    assert answer.code == 0
    assert answer.document["verdict"] == "held"
    assert answer.document["seed"] == 3
    assert {row["section"] for row in answer.document["rows"]} == {"base protocol", "KIP-62"}
    assert [row["history"] for row in answer.document["rows"] if row["claim"] == "wire_leaves_on_close"] == [
        str(tmp_path / "out" / "joins.jsonl")
    ]
    assert "1 of 13 scenarios, histories in" in answer.err
    assert "  joins " in answer.err
    assert "KIP-62: 3 held" in page.read_text()
    assert {suite.name for suite in JUnitXml.fromstring(junit.read_bytes())} == {"base protocol", "KIP-62"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--scenario", "jons", *WORDS), "'jons' is no scenario: choose from joins, kill"),
        (("--scenario", "static", *WORDS), "the scenario static needs static members: write {instance} where"),
        (("--kip", "848", *WORDS), "'848' is no KIP of this kit: choose from base protocol, KIP-62"),
        (("--adapter", "jafka"), "'jafka' is no ready client: choose java"),
        (("--fault-file", "missing.txt", *WORDS), "cannot read faults from missing.txt"),
        ((), "no command is given: write the client's command behind --"),
        (("--broker", "nowhere", *WORDS), "'nowhere' is no broker"),
        (("--", sys.executable, "-c", "1/0", "{bootstrap}{group}{topic}"), "the command never connected to the broker"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_sentence(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = command("conform", "client", "--json", *options)
    assert answer.code == 2
    assert says in json.loads(answer.out)["error"]
    assert "Traceback" not in answer.err.replace("its last lines: Traceback", "")
