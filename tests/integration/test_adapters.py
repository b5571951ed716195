"""Ready clients: what they are made of, what is refused, and those in Python as groups on the embedded broker."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("kafka", reason="the ready clients in Python need the extra 'brokers'")

from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.kits.adapters.ready import ADAPTERS, OURS, adapter
from rebalance_check.integration.kits.programs.go import GoProgram
from rebalance_check.integration.kits.programs.node import NodeProgram
from rebalance_check.integration.kits.programs.python import PythonProgram
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.integration.adapter_runs import RunningGroup

IN_PYTHON = [
    (each.name, protocol)
    for each in (*ADAPTERS, OURS)
    if isinstance(each.program, PythonProgram)
    for protocol in each.protocols
]


def fake_tool(folder: Path, name: str, says: str) -> None:
    """A command that prints a version, whatever it is asked."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_each_pins_a_release() -> None:
    titles = {each.name: each.title for each in ADAPTERS}
    assert titles["java"] == "java 4.3.1"
    assert titles["kafkajs"] == "kafkajs 2.2.4"
    assert titles["franz-go"] == "franz-go 1.22.2"
    assert len(titles) == len(ADAPTERS) == 8


def test_no_lock_file_records_the_address_of_a_registry() -> None:
    """npm then asks the registry that its user has set."""
    in_node = [each.program for each in ADAPTERS if isinstance(each.program, NodeProgram)]
    assert len(in_node) == 2
    for program in in_node:
        packages = json.loads((program.folder / "package-lock.json").read_bytes())["packages"]
        assert {name: values["resolved"] for name, values in packages.items() if "resolved" in values} == {}


@pytest.mark.parametrize(
    ("name", "command", "says", "sentence"),
    [
        (
            "franz-go",
            "go",
            "go version go1.19.8 linux/amd64",
            "franz-go needs Go 1.26.0 or newer, and `go version` says 1.19.8: install Go 1.26.0, and put it first "
            "on the PATH",
        ),
        (
            "platformatic",
            "node",
            "v20.20.2",
            "platformatic needs Node 22.22 or newer, and `node --version` says 20.20.2: install Node 22.22, and put it "
            "first on the PATH",
        ),
        (
            "kafkajs",
            "node",
            "no version at all",
            "kafkajs needs Node 18.3 or newer, and `node --version` says 'no version at all': install Node 18.3, and "
            "put it first on the PATH",
        ),
    ],
)
def test_a_tool_that_is_too_old_is_refused(
    name: str, command: str, says: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tool(tmp_path, command, says)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(RebalanceCheckError) as refused:
        adapter(name).command()
    assert str(refused.value) == sentence


def test_a_tool_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, tool in (("sarama", "Go 1.26.0"), ("kafkajs", "Node 18.3")):
        with pytest.raises(RebalanceCheckError, match=f"{name} needs {tool} or newer, and no '.*' is on the PATH"):
            adapter(name).command()


def test_the_error_shows_what_a_failed_build_printed__and_nothing_stays_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each tool prints a new version when asked, and fails at whatever comes next."""
    for tool in ("go", "node", "npm"):
        fake_tool(tmp_path, tool, "v99.1")
    for tool in ("go", "npm"):
        with (tmp_path / tool).open("a", encoding="utf-8") as script:
            script.write('case $1 in build|ci) echo "no space left" >&2; exit 3;; esac\n')
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, call in (("sarama", "go build"), ("kafkajs", "npm ci")):
        with pytest.raises(RebalanceCheckError) as failed:
            adapter(name).command()
        assert str(failed.value).startswith(f"{name} could not be built: `{call} ")
        assert str(failed.value).endswith("ended with 3 and printed no space left")
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_a_package_that_is_not_installed_is_named() -> None:
    program = PythonProgram("theirs", "theirs.consumer", "no-such-distribution")
    with pytest.raises(RebalanceCheckError, match="theirs needs no-such-distribution, which is not installed: run pip"):
        program.command()


def test_what_a_client_lacks_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="aiokafka has no cooperative protocol: choose eager"):
        adapter("aiokafka").command("cooperative")
    with pytest.raises(RebalanceCheckError, match="kafkajs has no static members"):
        adapter("kafkajs").command(static=True)
    with pytest.raises(RebalanceCheckError, match="'kafka-js' is no ready client: choose java, librdkafka"):
        adapter("kafka-js")


def test_a_static_member_has_a_placeholder_of_its_own() -> None:
    command = adapter("aiokafka").command(static=True, session_ms=7_000)
    assert command[command.index("--instance") + 1] == "{instance}"
    assert command[command.index("--session-ms") + 1] == "7000"
    assert "{instance}" not in adapter("aiokafka").command()


def test_sources_decide_what_is_built_again() -> None:
    """Programs in other languages have all that they are built from next to each other, in their own folder."""
    for each in ADAPTERS:
        if isinstance(each.program, GoProgram | NodeProgram):
            names = {path.name for path in each.program.folder.iterdir()}
            is_go = isinstance(each.program, GoProgram)
            wanted = {"go.mod", "go.sum", "main.go"} if is_go else {"package.json", "package-lock.json"}
            assert wanted <= names, each.name


@pytest.mark.parametrize(("name", "protocol"), IN_PYTHON)
def test_a_group_shares_a_topic__and_each_ends_orderly(name: str, protocol: str) -> None:
    with EmbeddedBroker({"t": 4}) as broker, RunningGroup(adapter(name), broker.bootstrap, "t") as group:
        group.start("a", protocol)
        group.await_shared(4)
        group.start("b", protocol)
        group.await_shared(4)
        assert group.exit_code("a") == 0
        group.await_shared(4)
        assert group.exit_code("b") == 0


def test_the_command_becomes_the_client() -> None:
    """Its exit code is the client's own: argparse refuses what lacks a topic."""
    command = [sys.executable, "-m", "rebalance_check.integration.kits.adapters"]
    named = subprocess.run([*command, "aiokafka", "--group", "g"], capture_output=True, text=True, check=False)
    assert (named.returncode, "the following arguments are required: --bootstrap, --topic" in named.stderr) == (2, True)
    unknown = subprocess.run([*command, "kafka-js"], capture_output=True, text=True, check=False)
    assert (unknown.returncode, unknown.stderr.split(":")[0]) == (2, "'kafka-js' is no ready client")
    assert subprocess.check_output(command, text=True).split() == [each.name for each in (*ADAPTERS, OURS)]
