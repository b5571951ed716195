"""The programs in Java, JavaScript and Go on the page about the broker join and print what it says."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rebalance_check.integration.jvm import java_tool
from rebalance_check.integration.kits.adapters.ready import JAVA_JARS, adapter
from rebalance_check.integration.kits.programs.go import GoProgram
from rebalance_check.integration.kits.programs.node import NodeProgram
from tests.docs.broker_page import broker_process, programs, run

pytestmark = pytest.mark.clients


def java(folder: Path, code: str) -> list[str]:
    (folder / "Orders.java").write_text(code)
    return [java_tool("java", *JAVA_JARS.jdk), "-cp", JAVA_JARS.class_path("4.3.1"), "Orders.java"]


def js(folder: Path, code: str) -> list[str]:
    plain = adapter("kafkajs").program
    assert isinstance(plain, NodeProgram)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(plain.folder / name, folder)
    (folder / "consumer.mjs").write_text(code)
    return NodeProgram("broker-page", folder, plain.package).command()


def go(folder: Path, code: str) -> list[str]:
    plain = adapter("franz-go").program
    assert isinstance(plain, GoProgram)
    for name in ("go.mod", "go.sum"):
        shutil.copy(plain.folder / name, folder)
    (folder / "main.go").write_text(code)
    return GoProgram("broker-page", folder, plain.module).command()


@pytest.mark.parametrize(("kind", "command"), [("java", java), ("js", js), ("go", go)])
def test_a_program_joins_and_prints_what_the_page_says(
    kind: str, command: Callable[[Path, str], list[str]], tmp_path: Path
) -> None:
    (program,) = programs(kind)
    with broker_process() as (bootstrap, said):
        assert run(*command(tmp_path, program.at(bootstrap)), cwd=tmp_path) == program.shown
    session = "\n".join(said)
    assert f"billing: {'franz-go' if kind == 'go' else 'java' if kind == 'java' else 'kafkajs'}-" in session
    assert "leaves\n" in session
    assert "verdict: held" in session
