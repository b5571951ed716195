"""Where there is no Java for Spark, that is said in one sentence, and the fallback is named."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline import session
from rebalance_check.pipeline.fuzz import fuzz


@pytest.fixture(autouse=True)
def new_look_for_java() -> Iterator[None]:
    session.java_version.cache_clear()
    yield
    session.java_version.cache_clear()


def fake_java(folder: Path, first_line: str) -> None:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{first_line}' >&2\n")
    java.chmod(0o755)


def test_no_java_on_the_path_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not session.java_available()
    with pytest.raises(RebalanceCheckError, match=r"no working Java in the PATH.*install Java 17"):
        fuzz(range(4), SimulationOptions(), engine="spark")


def test_a_java_home_without_java_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(RebalanceCheckError, match=f"no working Java in JAVA_HOME={tmp_path}"):
        session.require_java()


@pytest.mark.parametrize(
    ("first_line", "version"), [('openjdk version "17.0.15" 2025-04-15', 17), ('java version "1.8.0_402"', 1)]
)
def test_the_version_of_java_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, first_line: str, version: int
) -> None:
    fake_java(tmp_path, first_line)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert session.java_version() == version
    assert session.java_available() == (version >= 17)


def test_an_old_java_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path, 'openjdk version "11.0.2" 2019-01-15')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(RebalanceCheckError, match="Java 11 is too old for Spark"):
        session.require_java()
