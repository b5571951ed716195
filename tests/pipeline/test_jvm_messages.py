"""Standard error of Spark's JVM: the lines that say nothing are left out, all others arrive, also late ones."""

import subprocess
import sys

import pytest

STARTS_A_CHILD = """
import subprocess, sys, threading
from rebalance_check.pipeline.jvm_messages import filtered_errors
with filtered_errors() as errors:
    process = subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], stderr=errors)
process.wait()
[thread.join() for thread in threading.enumerate() if thread.name == "jvm-messages"]
"""
WRITES_TWICE = """
import sys, time
for text in sys.argv[1:]:
    sys.stderr.write(text)
    sys.stderr.flush()
    time.sleep(0.2)
"""
INCUBATOR = "WARNING: Using incubator modules: jdk.incubator.vector\n"


def messages(*texts: str) -> str:
    command = [sys.executable, "-c", STARTS_A_CHILD, WRITES_TWICE, *texts]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


def test_a_line_that_says_nothing_is_left_out() -> None:
    assert messages(INCUBATOR, "an error\nand its cause") == "an error\nand its cause"


def test_every_other_line_arrives() -> None:
    assert messages("WARNING: disk full\n", INCUBATOR + "late\n") == "WARNING: disk full\nlate\n"


@pytest.mark.spark
def test_a_campaign_on_spark_prints_no_warning() -> None:
    command = [sys.executable, "-m", "rebalance_check", "fuzz", "--spark", "local[*]", "--seeds", "0:2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "WARN" not in done.stdout + done.stderr
