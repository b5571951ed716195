"""Simulates and judges for `fuzz_speed.py`, with the version that PYTHONPATH names: JSON objects, one a line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from rebalance_check.impl.runtime.options import COMMON_FAULTS, FaultKind, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties import judge as judging
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.history import encode, read_history, write_history
from rebalance_check.properties.judge import judge


class Worker:
    """What it is asked to do: each method takes what the line says and returns what is printed."""

    def __init__(self) -> None:
        self.runs: list[list[Event]] = []

    def about(self) -> dict[str, Any]:
        """What this version has."""
        compiled = not str(judging.__file__).endswith(".py")
        return {"claims": [one.name for one in CATALOGUE], "faults": list(COMMON_FAULTS), "compiled": compiled}

    def record(self, seeds: int, faults: list[str], folder: str) -> dict[str, Any]:
        """Write the histories of the first seeds, and say where."""
        paths = [str(Path(folder, f"{seed:06}.jsonl")) for seed in range(seeds)]
        for seed, path in enumerate(paths):
            write_history(path, simulate(seed, options(faults)))
        return {"paths": paths}

    def load(self, paths: list[str]) -> dict[str, Any]:
        """Read the histories that are to be judged."""
        self.runs = [list(read_history(path)) for path in paths]
        return {"events": sum(map(len, self.runs))}

    def simulate(self, seed: int, faults: list[str]) -> dict[str, Any]:
        """One seed: how long it took, and what came of it."""
        chosen = options(faults)
        history, seconds = timed(lambda: simulate(seed, chosen))
        digest = sha256(b"\n".join(map(encode, history))).hexdigest()
        return {"seconds": seconds, "events": len(history), "digest": digest}

    def judge(self, run: int, claims: list[str]) -> dict[str, Any]:
        """One of the histories that were read."""
        history, chosen = self.runs[run], select(claims)
        judgement, seconds = timed(lambda: judge(history, chosen))
        said = {one.name: verdict.outcome for one, verdict in judgement.verdicts.items()}
        return {"seconds": seconds, "events": len(history), "verdicts": said}


def options(faults: list[str]) -> SimulationOptions:
    return SimulationOptions(faults=tuple(map(FaultKind, faults)))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def main() -> None:
    worker = Worker()
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(getattr(worker, asked.pop("do"))(**asked)), flush=True)


if __name__ == "__main__":
    main()
