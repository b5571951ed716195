"""Numbers that are too large, outputs that are not taken and paths of no use are refused with 2 and one sentence."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

HUGE = "9" * 20
PROGRAM = f"{sys.executable} -m rebalance_check"

REFUSED = {
    "seeds": (["fuzz", "--seeds", "0:9223372036854775807"], "are more than 100,000,000"),
    "seeds in reverse": (["fuzz", "--seeds", "5:1"], "give FIRST:LAST with FIRST < LAST"),
    "actions": (["compare", "model", "embedded", "--steps", HUGE], "is not in the range 1<=x<=100000"),
    "processes": (["fuzz", "--workers", HUGE], "is not in the range 1<=x<=256"),
    "a negative number": (["fuzz", "--seeds", "0:1", "--members", "-1"], "members is -1: choose a number from 1"),
    "a negative action": (["fuzz", "--seeds", "0:1", "--omit", "-5"], "omit names action -5"),
    "no number of minutes": (["explore", "--minutes", "nan"], "nan is no number of minutes"),
    "minutes without end": (["fuzz", "--minutes", "inf"], "is not in the range"),
    "walks": (["compare", "model", "embedded", "--walks", HUGE], "is not in the range"),
    "an index of an address": (["explore", f"v1/eager?members=2/{HUGE}"], "is no path"),
    "a bound of an address": (["explore", f"v1/eager?members={HUGE}/0"], "write members=NUMBER"),
    "a table in /proc": (["fuzz", "--seeds", "0:1", "--workers", "1", "--out", "/proc/x"], "'/proc/x' cannot be used"),
}

REFUSED_IN_A_SHELL = {
    "a full disk": (f"{PROGRAM} invariants > /dev/full", "No space left on device"),
    "a full disk for JSON": (f"{PROGRAM} invariants --json > /dev/full", "No space left on device"),
    "a reader that ends": (f"set -o pipefail; {PROGRAM} invariants | head -1 > /dev/null", "is not read to its end"),
    "a name that is no UTF-8": (f"{PROGRAM} judge $'\\377.jsonl'", "'\\udcff.jsonl' cannot be opened"),
}

TAKEN = {
    "an ASCII terminal": f"LC_ALL=C PYTHONIOENCODING=ascii {PROGRAM} mutants",
    "no home": f"env -u HOME {PROGRAM} invariants one_leader",
    "a closed output": f"{PROGRAM} invariants one_leader >&-",
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_used__is_refused_with_one_sentence(
    command: Callable[..., Any], arguments: list[str], sentence: str
) -> None:
    answer = command(*arguments)
    assert (answer.code, sentence in " ".join(answer.err.split())) == (2, True), answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(("line", "sentence"), REFUSED_IN_A_SHELL.values(), ids=REFUSED_IN_A_SHELL.keys())
def test_what_does_not_serve__is_refused_with_one_sentence(line: str, sentence: str) -> None:
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False, text=True, timeout=120)
    assert (done.returncode, sentence in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("line", TAKEN.values(), ids=TAKEN.keys())
def test_what_is_unusual__is_taken(line: str) -> None:
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
