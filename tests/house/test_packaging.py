"""The installed package is complete: each file with its content, typed, and cheap to import without the extras."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import rebalance_check

ROOT = Path(__file__).parents[2]
PACKAGES = ("model", "properties", "impl", "integration", "pipeline")
INSTALLED = Path(rebalance_check.__file__).parent
NOT_SHIPPED = {".pyc"}

EXTRAS = (
    "numpy llvmlite networkx hypothesis kafka testcontainers docker pyspark pyarrow pandas jinja2 junitparser "
    "prometheus_client"
)

REFUSING = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1:]:
            raise ModuleNotFoundError(f"{name} is an extra", name=name)

sys.meta_path.insert(0, Refuse())
"""
"""Begins a program that lacks the libraries that its arguments name."""

JUDGING = """
from rebalance_check import CATALOGUE, judge, read_history, write_history
from rebalance_check.cli import run
from rebalance_check.model.vocabulary.events import PartitionsAssigned

events = [PartitionsAssigned(source=m, seq=0, member=m, generation=1, partitions=("t-0",)) for m in ("m0", "m1")]
write_history("h.jsonl", events)
assert not judge(read_history("h.jsonl")).exit_code == 0
assert run(["judge", "h.jsonl"]) == 10
assert run(["invariants"]) == 0
assert run(["--help"]) == 0
"""

TRYING = """
from rebalance_check.cli import run

assert run(["conform", "client", "--help"]) == 0
assert run(["conform", "broker", "--help"]) == 0
assert run(["broker", "--help"]) == 0
"""


def shipped(folder: Path) -> dict[str, bytes]:
    """The files below a folder, links followed: path from the folder to content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in NOT_SHIPPED and "__pycache__" not in path.parts
    }


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """The files that one of two folders lacks, or that differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def of_the_command_line(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in shipped(folder).items() if name.split("/")[0] not in PACKAGES}


def test_every_package_is_installed_whole() -> None:
    for package in PACKAGES:
        assert differing(shipped(INSTALLED / package), shipped(ROOT / package)) == [], package


def test_the_command_line_is_installed_whole__and_typed() -> None:
    own, installed = of_the_command_line(ROOT / "rebalance_check"), of_the_command_line(INSTALLED)
    assert differing(installed, own) == []
    assert "py.typed" in own


def test_the_package_under_test_is_the_one_meant() -> None:
    """In the environment `wheel` the installed wheel, everywhere else the checkout."""
    in_checkout = INSTALLED.resolve() == (ROOT / "rebalance_check").resolve()
    assert in_checkout == (os.environ.get("REBALANCE_CHECK_INSTALLED") != "1"), INSTALLED


def test_the_command_is_installed() -> None:
    scripts = {script.name: script.value for script in entry_points(group="console_scripts")}
    assert scripts["rebalance-check"] == "rebalance_check.cli:main"


def test_judging_needs_none_of_the_extras(tmp_path: Path) -> None:
    run_without(EXTRAS, JUDGING, tmp_path)


def test_the_kits_and_the_broker_need_no_library_of_the_extra_report(tmp_path: Path) -> None:
    run_without("jinja2 markupsafe junitparser", TRYING, tmp_path)


def run_without(libraries: str, program: str, folder: Path) -> None:
    call = [sys.executable, "-c", REFUSING + program, *libraries.split()]
    result = subprocess.run(call, capture_output=True, text=True, cwd=folder, check=False)
    assert result.returncode == 0, result.stderr
