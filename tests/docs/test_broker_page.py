"""The page about the broker: its programs in Python join and print what it says, its faults are faults."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

pytest.importorskip("kafka", reason="the page is about clients, which need the extra 'brokers'")

from rebalance_check.integration.exchange.fault_file import faults_in
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.docs.broker_page import PAGE, Program, broker_process, programs, run

PYTHON = "python needs-broker untyped-library"


@pytest.mark.parametrize("program", programs(PYTHON), ids=["kafka-python", "librdkafka", "aiokafka"])
def test_a_program_in_python_joins_and_prints_what_the_page_says(program: Program, tmp_path: Path) -> None:
    printed, session = once_more_when_hung(program, tmp_path)
    assert printed == program.shown
    assert re.search(r"billing: \S+ joins\n", session)
    assert re.search(r"billing: generation 1, 1 member, led by \S+, protocol r", session)
    assert re.search(r"billing: \S+ leaves\n", session)
    assert "verdict: held" in session


def once_more_when_hung(program: Program, folder: Path) -> tuple[str, str]:
    """The output of the program, and the broker. kafka-python may stay in its join for ever (TRACK_RECORD.md)."""
    try:
        return joined(program, folder)
    except subprocess.TimeoutExpired as hung:
        if "KafkaConsumer" not in program.code:
            raise
        warnings.warn(f"the program is run once more: {hung}", stacklevel=2)
        return joined(program, folder)


def joined(program: Program, folder: Path) -> tuple[str, str]:
    """The program in a process of its own, at a broker of its own."""
    with broker_process() as (bootstrap, said):
        path = folder / "program.py"
        path.write_text(program.at(bootstrap), encoding="utf-8")
        printed = run(sys.executable, path, cwd=folder)
    return printed, "\n".join(said)


def test_there_are_three_programs_in_python__and_one_each_in_java_javascript_and_go() -> None:
    assert {kind: len(programs(kind)) for kind in (PYTHON, "java", "js", "go")} == {
        PYTHON: 3, "java": 1, "js": 1, "go": 1,
    }  # fmt: skip


def test_the_faults_of_the_page_are_faults__and_its_error_is_the_one_that_is_said() -> None:
    ((_, faults, _),) = programs("faults")
    assert len(faults_in(faults, "churn.faults").pending) == 4
    with pytest.raises(RebalanceCheckError) as raised:
        faults_in("delay JoinGrup 300", "churn.faults")
    assert f"\nrebalance-check: {raised.value}\n" in PAGE.read_text(encoding="utf-8")
