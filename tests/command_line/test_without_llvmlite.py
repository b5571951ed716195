"""Where llvmlite is not installed `explore` interprets, and says so; a search that can only be compiled fails."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rebalance_check.commands._search_memory import INTERPRETED_INSTEAD

HIDDEN: Final = """\
import sys
sys.modules["llvmlite"] = None
from rebalance_check.cli import run
sys.exit(run(sys.argv[1:]))
"""

SMALL: Final = "explore --bounds members=2,partitions=1,generations=2,crashes=0,initial_delay=off"


def without_llvmlite(*more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDDEN, *SMALL.split(), *more], capture_output=True, text=True, check=False, timeout=120
    )


def test_explore_interprets__and_says_how_much_slower_that_is(golden: Callable[[str, str], None]) -> None:
    done = without_llvmlite("--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["verdict"], document["complete"]) == (0, "held", True)
    assert document["collision_probability"] == 0.0
    said = [line for line in done.stderr.splitlines(keepends=True) if "llvmlite" in line]
    assert said == [f"{INTERPRETED_INSTEAD}\n"]
    golden("explore-without-llvmlite.txt", "".join(said))


def test_what_was_asked_for_interpreted_says_nothing_of_it() -> None:
    done = without_llvmlite("--interpreted")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_search_that_keeps_its_states_on_disk_says_what_it_needs(tmp_path: Path) -> None:
    done = without_llvmlite("--spill", str(tmp_path / "states"))
    assert done.returncode == 2
    assert "needs llvmlite, which is not installed: run pip install 'rebalance-check[explore]'" in done.stderr
    assert "Traceback" not in done.stderr
