"""The recorder of Java consumers, compiled for Java 8, in real consumers on the embedded broker: files are judged."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("kafka", reason="the embedded broker needs the extra 'brokers'")

from rebalance_check import (
    Event,
    MemberJoined,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    judge,
    read_history,
)
from rebalance_check.integration.comparison.assignors.release import CLIENT_JARS
from rebalance_check.integration.jvm import compiled_once, java_tool
from tests.integration.recorders.applications import Group
from tests.integration.seen import assert_seen

pytestmark = pytest.mark.oracle

HERE = Path(__file__).parent
RECORDER = HERE.parents[2] / "integration" / "recorders" / "java"
JDK = ("the recorder of Java consumers", 11)
RELEASES = ["3.9.2", "4.3.1"]


def java_app(release: str) -> list[str]:
    """How the recorded application of a release is started, without its arguments."""
    jars = f"{CLIENT_JARS.folder_of(release)}/*"
    sources = [*sorted(RECORDER.rglob("*.java")), HERE / "java" / "RecordedConsumer.java"]
    classes = compiled_once(f"tests/recorder/{release}", sources, jars, JDK, otherwise="the recorder does not compile:")
    options = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return [java_tool("java", *JDK), *options, "-cp", f"{classes}:{jars}", "RecordedConsumer"]


def events_of(group: Group, member: str) -> list[Event]:
    return list(read_history(group.folder / f"{member}.jsonl"))


@pytest.mark.parametrize(("release", "more"), [("3.9.2", ()), ("4.3.1", ()), ("4.3.1", ("cooperative",))])
def test_a_correct_application_is_judged_held__with_kills_and_restarts(
    release: str, more: tuple[str, ...], group: Group
) -> None:
    command = java_app(release)
    group.begin_with_a_kill(command, *more)
    group.stop("m0")
    group.kill("m2")
    group.start("m0", command, *more)
    group.settle()
    group.await_commits("m0", "m1")
    group.end()
    document = group.judged()
    held = {name for name, one in document["verdicts"].items() if one["verdict"] == "held"}
    assert (document["verdict"], document["exit_code"]) == ("held", 0), document.get("counterexample")
    assert held >= {"no_double_ownership", "generation_monotonicity", "callbacks_alternate", "wire_member_id_is_kept"}
    m1 = events_of(group, "m1")
    assert [event.seq for event in m1] == list(range(len(m1)))
    (first, _) = [event for event in m1 if isinstance(event, MemberStarted)]
    assert (first.client, first.release, first.session_timeout_ms) == ("java", release, 3_000)
    assert first.protocol == (more[0] if more else "eager")
    assert {type(event) for event in m1} >= {MemberJoined, PartitionsAssigned, OffsetCommitted, MemberLeft}
    assert_seen("recorder: java", *(events_of(group, member) for member in ("m0", "m1", "m2")))


def test_two_owners_are_caught__of_an_application_whose_assignor_gives_all_to_each(group: Group) -> None:
    for member in ("m0", "m1"):
        group.start(member, java_app("4.3.1"), "doubles")
    group.await_commits("m0", "m1")
    group.end()
    document = group.judged("--invariant", "assigned_once_per_generation")
    assert (document["verdict"], document["exit_code"]) == ("violated", 10)
    assert "is assigned to m" in document["counterexample"]["headline"]


def test_with_the_interceptor_alone__commits_and_ends_are_recorded__and_nothing_is_accused(group: Group) -> None:
    for member in ("m0", "m1"):
        group.start(member, java_app("4.3.1"), "interceptor-only")
    group.settle()
    group.await_commits("m0", "m1")
    group.kill("m1")
    group.settle()
    group.end()
    m0 = events_of(group, "m0")
    assert [type(event) for event in m0 if not isinstance(event, OffsetCommitted)] == [MemberStarted, MemberLeft]
    assert {event.generation for event in m0 if isinstance(event, OffsetCommitted)} == {-1}
    document = group.judged()
    assert {one["verdict"] for one in document["verdicts"].values()} == {"untested"}
    assert (document["verdict"], document["exit_code"]) == ("undecided", 12)


def test_members_of_java_and_python_are_judged_together(group: Group) -> None:
    from tests.integration.recorders.applications import python_app  # noqa: PLC0415 - the others need no Python app

    group.start("m0", java_app("4.3.1"))
    group.start("m1", python_app("confluent"))
    group.settle()
    group.kill("m0")
    group.settle()
    group.end()
    document = group.judged()
    assert (document["verdict"], len(document["histories"])) == ("held", 1), document.get("counterexample")


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the application without a broker, with its input closed: what the recorder does with its settings."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        call = [*java_app("4.3.1"), *arguments]
        return subprocess.run(
            call, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env={**os.environ}
        )

    return run


def test_names_are_escaped__and_a_cut_file_is_gone_on_with(
    record: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path, group, member = tmp_path / "new" / "m.jsonl", 'g"\\\t\x01äß😀', 'm"\\ä😀'
    for _ in range(2):
        done = record("127.0.0.1:9", group, "t", member, str(path))
        assert done.returncode == 0, done.stderr
        with path.open("ab") as file:
            file.write(b'{"event":"MemberLe')
    assert judge(path).unread_count == 1
    path.write_bytes(path.read_bytes().rpartition(b"\n")[0] + b"\n")
    history = list(read_history(path))
    assert {(event.group, event.source) for event in history} == {(group, member)}
    assert [event.seq for event in history] == list(range(len(history)))
    assert [type(event) for event in history].count(MemberStarted) == 2


def test_a_file_in_use_is_refused__in_one_sentence(
    record: Callable[..., subprocess.CompletedProcess[str]], group: Group
) -> None:
    group.start("m0", java_app("4.3.1"))
    group.await_commits("m0")
    done = record(group.broker.bootstrap, group.group, group.group, "m1", str(group.folder / "m0.jsonl"))
    assert done.returncode != 0
    assert "m0.jsonl is being written by another recorder: give each consumer a file of its own" in done.stderr


def test_the_pom_compiles_for_java_8__and_brings_nothing_but_kafkas_clients() -> None:
    pom = ElementTree.parse(RECORDER / "pom.xml").getroot()
    text = {re.sub(r"\{.*\}", "", each.tag): each.text for each in pom.iter()}
    assert (text["maven.compiler.source"], text["maven.compiler.target"]) == ("8", "8")
    dependencies = [each.text for each in pom.iter() if each.tag.endswith("}artifactId")]
    assert dependencies == ["consumer-recorder", "kafka-clients"]
    assert text["scope"] == "provided"


def test_the_recorder_compiles_as_java_8(tmp_path: Path) -> None:
    sources = [str(path) for path in sorted(RECORDER.rglob("*.java"))]
    call = [java_tool("javac", *JDK), "--release", "8", "-Xlint:all,-options,-path,-classfile", "-Werror", "-d"]
    done = subprocess.run(
        [*call, str(tmp_path), "-cp", f"{CLIENT_JARS.folder_of('3.9.2')}/*", *sources],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.dumps(done.stderr) == '""'
