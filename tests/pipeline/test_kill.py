"""A campaign that is killed without warning loses no committed seed and doubles none when it is started again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.pipeline.fuzz import fuzz
from rebalance_check.pipeline.history_table import HistoryTable

SEEDS = 600

PROGRAM = """
import sys
from pathlib import Path
import toy_subject
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.pipeline.fuzz import fuzz

if __name__ == "__main__":
    if sys.argv[2] == "spark":
        from pyspark import cloudpickle
        cloudpickle.register_pickle_by_value(toy_subject)
    fuzz(range({seeds}), SimulationOptions(), simulate=toy_subject.simulate_slowly, engine=sys.argv[2],
         out=Path(sys.argv[1]), workers=2, master="local[2]")
"""


def start(folder: Path, engine: str) -> subprocess.Popen[bytes]:
    program = folder / "program.py"
    program.write_text(PROGRAM.format(seeds=SEEDS))
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent / "subjects")}
    command = [sys.executable, str(program), str(folder / "table"), engine]
    return subprocess.Popen(command, env=environment, start_new_session=True)


def wait_until_some_are_committed(process: subprocess.Popen[bytes], table: HistoryTable, deadline_s: float) -> None:
    end = time.monotonic() + deadline_s
    while not table.shards():
        assert process.poll() is None, "the campaign ended before it committed anything"
        assert time.monotonic() < end, f"nothing was committed within {deadline_s} s"
        time.sleep(0.02)


def processes_of_session(session: int) -> list[int]:
    """The processes that a killed campaign left behind, zombies apart."""
    alive = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                alive.append(int(entry.name))
    return alive


@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_killed_campaign_goes_on_where_it_stopped(
    engine: str, toy: Any, options: SimulationOptions, tmp_path: Path
) -> None:
    table = HistoryTable(tmp_path / "table")
    process = start(tmp_path, engine)
    wait_until_some_are_committed(process, table, deadline_s=90)
    process.send_signal(signal.SIGKILL)
    process.wait()
    committed = sum(len(shard.seeds) for shard in table.shards())
    assert 0 < committed < SEEDS, "the kill came too late to prove anything"

    result = fuzz(range(SEEDS), options, simulate=toy.simulate_slowly, out=tmp_path / "table", workers=2)
    assert result.resumed == committed
    seeds = [seed for shard in table.shards() for seed, _ in shard.histories()]
    assert sorted(seeds) == list(range(SEEDS))
    assert result.failing_seeds == tuple(range(0, SEEDS, toy.DOUBLE))


@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.spark)])
def test_the_workers_of_a_killed_campaign_end_too(engine: str, tmp_path: Path) -> None:
    process = start(tmp_path, engine)
    wait_until_some_are_committed(process, HistoryTable(tmp_path / "table"), deadline_s=90)
    assert len(processes_of_session(process.pid)) > 1
    process.send_signal(signal.SIGKILL)
    process.wait()
    end = time.monotonic() + 20
    while left := processes_of_session(process.pid):
        assert time.monotonic() < end, f"still running: {left}"
        time.sleep(0.05)
