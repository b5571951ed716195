"""How fast fuzzing is, against the wheel of an earlier commit: events of one core's second, simulated and judged.

Histories are recorded once, by the earlier version, with its own faults, and all judge the same. The versions take
turns run by run, and each run counts with the least CPU time of its repeats, as other programs only make it longer.
The last column compares with the earlier version.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measured_process import load

ROOT = Path(__file__).parents[1]
WORKER = Path(__file__).with_name("fuzz_speed_worker.py")
BEFORE = "64fee49"
"""The commit before fuzzing was made faster."""


class Version:
    """A wheel that is installed into a folder of its own, and the process that works with it."""

    def __init__(self, name: str, wheel: Path, folder: Path) -> None:
        self.name = name
        pip("install", "--quiet", "--no-deps", "--target", str(folder), str(wheel))
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.about = self.ask("about")

    def ask(self, do: str, **given: Any) -> Any:
        """What the process answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **given}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.name} ended with {self._process.wait()}: see its error above")
        return json.loads(answer)

    def end(self) -> None:
        """Let the process end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def pip(*words: str, extra: dict[str, str] | None = None) -> None:
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, env={**os.environ, **(extra or {})})


def wheel_of(source: Path, folder: Path, *, compiled: bool) -> Path:
    """Build the wheel of a checkout."""
    pip(
        "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source),
        extra={"REBALANCE_CHECK_COMPILE": str(int(compiled))},
    )  # fmt: skip
    return next(folder.glob("*.whl"))


def wheel_of_commit(commit: str, folder: Path) -> Path:
    """Build the wheel of an earlier commit of this checkout."""
    source = folder / "source"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(source)], check=True, input=archive.stdout)
    return wheel_of(source, folder, compiled=False)


def versions(arguments: argparse.Namespace, folder: Path) -> list[Version]:
    """The earlier version and this one; with ``--compiled`` also this one compiled."""
    wheels = {
        f"before ({arguments.before})": arguments.before_wheel or wheel_of_commit(arguments.before, folder / "wheel0"),
        "now": arguments.wheel or wheel_of(ROOT, folder / "wheel1", compiled=False),
    }
    if arguments.compiled or arguments.compiled_wheel:
        wheels["now, compiled"] = arguments.compiled_wheel or wheel_of(ROOT, folder / "wheel2", compiled=True)
    found = [Version(name, wheel, folder / str(at)) for at, (name, wheel) in enumerate(wheels.items())]
    for version in found:
        if version.about["compiled"] != version.name.endswith("compiled"):
            raise SystemExit(f"the wheel of {version.name!r} is none: leave its option out, so that it is built")
    return found


Ask = Callable[[Version, int], dict[str, Any]]


def compared(title: str, tested: list[Version], runs: int, repeats: int, ask: Ask) -> list[list[dict[str, Any]]]:
    """Let the versions take turns, print a line for each, and give the answers of each by run."""
    least = [[float("inf")] * runs for _ in tested]
    answers: list[list[dict[str, Any]]] = [[{}] * runs for _ in tested]
    for _ in range(repeats):
        for run in range(runs):
            for at, version in enumerate(tested):
                answer = answers[at][run] = ask(version, run)
                least[at][run] = min(least[at][run], answer["seconds"])
    speeds = [sum(a["events"] for a in said) / sum(times) for said, times in zip(answers, least, strict=True)]
    for version, speed in zip(tested, speeds, strict=True):
        print(f"{title:<28} {version.name:<20} {speed:>10,.0f} events/s {speed / speeds[0]:>6.2f} x", flush=True)
    return answers


def alike(answers: list[list[dict[str, Any]]], what: str) -> str:
    """In how many runs each later version has the same as the first."""
    first, *others = answers
    counts = [sum(a[what] == b[what] for a, b in zip(first, other, strict=True)) for other in others]
    said = f"the same {what} as before in {' and '.join(map(str, counts))} of {len(first)} runs"
    if len(others) < 2:
        return said
    equal = sum(a[what] == b[what] for a, b in zip(*others[:2], strict=True))
    return f"{said}; now and compiled alike in {equal}"


def compare(tested: list[Version], runs: int, repeats: int, faults: list[str], old: list[str]) -> None:
    """Simulation with the ``faults`` of the earlier version, then its ``old`` claims alone, then all that there are."""
    known = [claim for claim in old if all(claim in version.about["claims"] for version in tested)]

    def simulate(version: Version, run: int) -> dict[str, Any]:
        return dict(version.ask("simulate", seed=run, faults=faults))

    def judge_known(version: Version, run: int) -> dict[str, Any]:
        return dict(version.ask("judge", run=run, claims=known))

    def judge_all(version: Version, run: int) -> dict[str, Any]:
        return dict(version.ask("judge", run=run, claims=version.about["claims"]))

    print(alike(compared("simulate, faults of before", tested, runs, repeats, simulate), "digest"))
    print(alike(compared(f"judge, {len(known)} claims of before", tested, runs, repeats, judge_known), "verdicts"))
    compared("judge, all its claims", tested, runs, repeats, judge_all)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--before", default=BEFORE, metavar="COMMIT")
    parser.add_argument("--compiled", action="store_true", help="also a wheel whose judge and simulator are compiled")
    for name in ("before-wheel", "wheel", "compiled-wheel"):
        parser.add_argument(f"--{name}", type=Path, help="instead of building it")
    arguments = parser.parse_args()
    runs = arguments.seeds
    with TemporaryDirectory() as folder:
        tested = versions(arguments, Path(folder))
        old, faults = tested[0].about["claims"], tested[0].about["faults"]
        recorded = tested[0].ask("record", seeds=runs, faults=faults, folder=folder)["paths"]
        events = [version.ask("load", paths=recorded)["events"] for version in tested]
        print(f"{runs} seeds, {events[0]:,} events, {arguments.repeats} repeats, {load()}")
        compare(tested, runs, arguments.repeats, faults, old)
        for version in tested:
            version.end()


if __name__ == "__main__":
    main()
