"""Numbers that are too large, outputs that are not taken and paths of no use are refused with 2 and one sentence."""

from __future__ import annotations

import subprocess
import sys

import pytest

HUGE = "9" * 20
PROGRAM = f"{sys.executable} -m rebalance_check"

REFUSED = {
    "seeds": (f"{PROGRAM} fuzz --seeds 0:9223372036854775807", "are more than 100,000,000"),
    "seeds in reverse": (f"{PROGRAM} fuzz --seeds 5:1", "give FIRST:LAST with FIRST < LAST"),
    "actions": (f"{PROGRAM} replay --steps {HUGE}", "is not in the range 1<=x<=10000"),
    "processes": (f"{PROGRAM} fuzz --workers {HUGE}", "is not in the range 1<=x<=256"),
    "a negative number": (f"{PROGRAM} fuzz --seeds 0:1 --members -1", "members is -1: choose a number from 1"),
    "a negative action": (f"{PROGRAM} fuzz --seeds 0:1 --omit -5", "omit names action -5"),
    "no number of minutes": (f"{PROGRAM} explore --minutes nan", "nan is no number of minutes"),
    "minutes without end": (f"{PROGRAM} fuzz --broker virtual --minutes inf", "is not in the range"),
    "schedules": (f"{PROGRAM} replay --schedules {HUGE}", "is not in the range"),
    "an index of an address": (f"{PROGRAM} replay 'v1/eager?members=2/{HUGE}'", "is no path"),
    "a bound of an address": (f"{PROGRAM} replay 'v1/eager?members={HUGE}/0'", "write members=NUMBER"),
    "a poll": (f"{PROGRAM} live --poll-timeout-ms {HUGE}", "is not in the range"),
    "a table in /proc": (f"{PROGRAM} fuzz --seeds 0:1 --workers 1 --out /proc/x", "'/proc/x' cannot be used"),
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


@pytest.mark.parametrize(("line", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_serve__is_refused_with_one_sentence(line: str, sentence: str) -> None:
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False, text=True, timeout=120)
    assert (done.returncode, sentence in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("line", TAKEN.values(), ids=TAKEN.keys())
def test_what_is_unusual__is_taken(line: str) -> None:
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
