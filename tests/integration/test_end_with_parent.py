"""Child processes end when the process that started them is killed without warning, stopped ones too."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rebalance_check.integration.parent import ended_with_parent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's death signal is Linux's")

PROGRAMS = {
    "a child that reads nothing": """
import sys, time
from rebalance_check.integration.jvm import JavaChild
child = JavaChild("a sleeper", ["sleep", "600"])
""",
    "a child that is stopped": """
import os, signal, sys, time
from rebalance_check.integration.jvm import JavaChild
child = JavaChild("a sleeper", ["sleep", "600"])
time.sleep(0.5)
os.kill(child._process.pid, signal.SIGSTOP)
""",
}
JAVA_PROGRAMS = {
    "the assignors of a release": """
import sys, time
from rebalance_check.integration.comparison.assignors.assignors import JavaAssignors
child = JavaAssignors()
""",
    "virtual Kafka": """
import sys, time
from rebalance_check.integration.virtual import VirtualKafka, find_release
child = VirtualKafka(find_release("virtual")).__enter__()
""",
    "a local Kafka": """
import sys, time
from rebalance_check.integration.brokers import open_broker
opened = open_broker("local")
child = opened.__enter__()
""",
    "a cluster, one node of it paused": """
import sys, time
from rebalance_check.integration.brokers import open_cluster
opened = open_cluster("local", 3)
child = opened.__enter__()
child.cluster.pause(2)
""",
}
READY = 'print("ready", flush=True)\ntime.sleep(600)\n'


def children_of(pid: int) -> set[int]:
    """The processes that a process started, and theirs."""
    parents = {int(path.name): parent_of(int(path.name)) for path in Path("/proc").iterdir() if path.name.isdecimal()}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def await_true(condition: Callable[[], bool], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def hold_they_end(program: str, folder: Path, timeout_s: float = 10) -> None:
    """Start the program, kill it, and see its children end."""
    process = subprocess.Popen(
        [sys.executable, "-c", program + READY], stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(folder)}
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        children = children_of(process.pid)
        assert children
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert await_true(lambda: not any(map(is_running, children)), timeout_s), "children are left"


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_child__ends_with_a_killed_parent(program: str, tmp_path: Path) -> None:
    hold_they_end(program, tmp_path)


def jvm_cases() -> list[object]:
    marks = {
        "the assignors of a release": [pytest.mark.oracle],
        "virtual Kafka": [pytest.mark.virtual],
        "a local Kafka": [pytest.mark.broker, pytest.mark.local_process],
        "a cluster, one node of it paused": [pytest.mark.broker, pytest.mark.local_process],
    }
    return [pytest.param(program, marks=marks[name], id=name) for name, program in JAVA_PROGRAMS.items()]


@pytest.mark.parametrize("program", jvm_cases())
def test_a_jvm__ends_with_a_killed_parent(program: str, tmp_path: Path) -> None:
    hold_they_end(program, tmp_path)


def test_the_command__runs_as_it_is(tmp_path: Path) -> None:
    done = subprocess.run(ended_with_parent(["sh", "-c", "echo $0; exit 3", "it is"]), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (3, b"it is\n")
