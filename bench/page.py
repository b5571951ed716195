"""How a page of a long history is made and opened: seconds, bytes, and the time to the first rows in Chromium.

The figures that hold on every machine are ratios: the page to the history file, and opening a history to opening one
of a tenth of its length, whose rows in view are as many. Chromium and its driver must be installed, and Selenium.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rebalance_check.cli import run
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.history import write_history

sys.path.insert(0, str(Path(__file__).parents[1]))  # the driver of Chromium is that of the pages' tests
from tests.browser.chromium import Browser, open_browser

ROWS = ".window tbody tr[data-index]"
GROUPS = 2
EVENTS_OF_A_STEP = 23


def first_rows(browser: Browser, page: Path) -> float:
    """Seconds from opening a page to its first rows, the best of three."""
    times = []
    for _ in range(3):
        browser.open("about:blank")
        started = time.perf_counter()
        browser.open(page)
        browser.one(ROWS)
        times.append(time.perf_counter() - started)
    return min(times)


def history_of(steps: int) -> list[Event]:
    """The history of two groups, each with so many churn actions: one group has at most 10,000."""
    options = SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, members=6, partitions=6, steps=steps)
    first, second = (
        [replace(event, group=f"g{seed}") for event in simulate(seed, options)] for seed in range(GROUPS)
    )  # one run starts once and ends once
    harness = second[0].source
    later = [replace(event, seq=event.seq - 1) if event.source == harness else event for event in second[1:]]
    return [*(event for event in first if not isinstance(event, RunEnded)), *later]


def measured(folder: Path, steps: int) -> tuple[Path, int]:
    """The page of such a history, and how many events it has; prints how long it took, and its size."""
    history, page = folder / f"{steps}.jsonl", folder / f"{steps}.html"
    events = history_of(steps)
    write_history(history, events)
    started = time.perf_counter()
    with redirect_stdout(io.StringIO()):
        run(["judge", str(history), "--html", str(page)])
    spent = time.perf_counter() - started
    size, ratio = page.stat().st_size, page.stat().st_size / history.stat().st_size
    print(
        f"{len(events):>9,} events: judged and written in {spent:.1f} s, page {size / 1e6:.1f} MB "
        f"({size / len(events):.0f} bytes per event, {ratio:.2f} of the history file)"
    )
    return page, len(events)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=400_000)
    steps = parser.parse_args().events // (GROUPS * EVENTS_OF_A_STEP)
    with TemporaryDirectory() as folder, open_browser() as browser:
        short, _ = measured(Path(folder), steps // 10)
        long, events = measured(Path(folder), steps)
        tenth, whole = first_rows(browser, short), first_rows(browser, long)
    print(f"first rows of {events:,} events after {whole:.2f} s, {whole / tenth:.1f} x those of a tenth")


if __name__ == "__main__":
    main()
