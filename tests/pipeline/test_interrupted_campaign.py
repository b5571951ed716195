"""A campaign that is asked to end does so soon, keeps every seed that was finished, and leaves no process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.pipeline.history_table import HistoryTable
from rebalance_check.pipeline.processes import Processes, Task
from rebalance_check.pipeline.seed_set import SeedSet

SEEDS = 20_000
END_TIMEOUT_S = 40
"""A time-out, not the goal: that is 3 s on a machine with nothing else to do."""

PROGRAM = """
import sys
from pathlib import Path
from typing import Any
import toy_subject
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.integration.interrupts import orderly_end
from rebalance_check.pipeline import engines
from rebalance_check.pipeline.fuzz import fuzz

if __name__ == "__main__":
    engine, _, workers = sys.argv[2].partition(":")
    engines.GRACE_S = 15.0  # a machine that is busy with other tests is no reason to lose a seed
    if engine == "spark":
        from pyspark import cloudpickle
        cloudpickle.register_pickle_by_value(toy_subject)
    with orderly_end():
        fuzz(range({seeds}), SimulationOptions(), simulate=toy_subject.simulate_and_note, engine=engine,
             out=Path(sys.argv[1]), workers=int(workers), master=f"local[{{workers}}]")
"""

INTERRUPTIONS = [
    ("local:1", signal.SIGTERM, 128 + signal.SIGTERM),
    ("local:2", signal.SIGINT, -signal.SIGINT),
    pytest.param("local:1", signal.SIGINT, -signal.SIGINT, marks=pytest.mark.nightly),
    pytest.param("local:2", signal.SIGTERM, 128 + signal.SIGTERM, marks=pytest.mark.nightly),
    pytest.param("spark:2", signal.SIGINT, -signal.SIGINT, marks=pytest.mark.spark),
    pytest.param("spark:2", signal.SIGTERM, 128 + signal.SIGTERM, marks=pytest.mark.spark),
]
"""Each way and each signal once by day; the other pairs at night."""


def start(folder: Path, engine: str) -> "subprocess.Popen[bytes]":
    program = folder / "program.py"
    program.write_text(PROGRAM.format(seeds=SEEDS))
    environment = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent / "subjects"), *sys.path])}
    environment["TOY_NOTES"] = str(folder / "notes")
    command = [sys.executable, str(program), str(folder / "table"), engine]
    return subprocess.Popen(command, env=os.environ | environment, start_new_session=True, stderr=subprocess.PIPE)


def noted(folder: Path) -> list[int]:
    notes = folder / "notes"
    return sorted(int(line) for line in notes.read_text().split()) if notes.exists() else []


def await_notes(process: "subprocess.Popen[bytes]", folder: Path, count: int) -> None:
    deadline = time.monotonic() + 120
    while len(noted(folder)) < count:
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < deadline, "nothing was simulated"
        time.sleep(0.02)


def running_in_session(session: int) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append((entry / "cmdline").read_text())
        except (OSError, IndexError, ValueError):
            continue
    return found


@pytest.mark.parametrize(("engine", "number", "code"), INTERRUPTIONS)
def test_an_interrupted_campaign__keeps_each_finished_seed(
    engine: str, number: signal.Signals, code: int, tmp_path: Path
) -> None:
    process = start(tmp_path, engine)
    try:
        await_notes(process, tmp_path, 40)
        began = time.monotonic()
        process.send_signal(number)
        assert process.wait(END_TIMEOUT_S) == code
        print(f"{engine} {number.name}: ended after {time.monotonic() - began:.2f} s")
        while (left := running_in_session(process.pid)) and time.monotonic() < began + END_TIMEOUT_S:
            time.sleep(0.05)
        assert left == []
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
    table = HistoryTable(tmp_path / "table")
    table.check()
    kept = [seed for shard in table.shards() for seed, _ in shard.histories()]
    finished = noted(tmp_path)
    assert len(finished) < SEEDS, "the interruption came too late to show anything"
    assert sorted(kept) == sorted(set(kept)), "a seed stands in the table twice"
    lost = set(finished) - set(kept)
    assert set(kept) <= set(finished)
    assert len(lost) <= (1 if engine == "local:1" else 0), "finished, and not kept"
    assert len(table.missing(SeedSet.of(range(SEEDS)))) == SEEDS - len(kept)


def shell(line: str) -> Task[int]:
    """A task of a spawned process, which may not find the modules of the tests: its result is the exit code."""
    return subprocess.call, (["sh", "-c", line],)


def raise_in(processes: Processes, failure: BaseException, tasks: Iterable[Task[Any]]) -> None:
    """Raise where the first result comes in."""
    with processes:
        try:
            for _ in processes.run(tasks):
                raise failure
        finally:
            LAST[:] = processes.last_results(30) if isinstance(failure, KeyboardInterrupt) else []


LAST: list[int] = []


def test_processes_that_are_left_with_an_exception__end_without_finishing_their_work() -> None:
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        raise_in(Processes(2), ZeroDivisionError(), [shell("true"), (time.sleep, (300.0,))])
    assert time.monotonic() - began < 60


def test_the_results_of_what_has_begun__are_had_after_an_interruption() -> None:
    with pytest.raises(KeyboardInterrupt):
        raise_in(Processes(2), KeyboardInterrupt(), [shell("true"), shell("sleep 0.5; exit 3")])
    assert LAST == [3]
