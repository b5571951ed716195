"""Brokers of others are started, answer, and are gone afterwards; what cannot be had is refused in one sentence."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("kafka", reason="brokers of others need the extra 'brokers'")

from rebalance_check.integration.kits.brokers_of_others.known import OTHER_BROKERS, other_broker
from rebalance_check.integration.kits.brokers_of_others.other_broker import OtherBroker, running
from rebalance_check.integration.kits.programs import program
from rebalance_check.integration.kits.programs.python import PythonProgram
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import metadata
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def partitions(address: str) -> dict[str, int]:
    """The topics of a broker, with their numbers of partitions."""
    request = metadata.MetadataRequest(topics=None, allow_auto_topic_creation=False)
    with Connection(address) as connection:
        return {topic.name: len(topic.partitions) for topic in connection.call(request, 5).topics}


@pytest.mark.parametrize(
    "name", ["librdkafka-mock", pytest.param("kfake", marks=pytest.mark.clients)]
)  # tansu needs a quarter of an hour of Rust's compiler
def test_a_broker_runs_with_the_topics_asked_for__and_is_gone_afterwards(name: str) -> None:
    with running(other_broker(name), {"a": 3, "b": 6}) as address:
        assert partitions(address) == {"a": 3, "b": 6}
    with pytest.raises(ConnectionRefusedError):
        partitions(address)


def test_each_pins_a_release() -> None:
    titles = {each.name: each.title for each in OTHER_BROKERS}
    assert titles["tansu"] == "tansu 0.6.0"
    assert titles["kfake"].startswith("kfake 0.0.0-2026")


def test_a_broker_that_ends_shows_what_it_printed() -> None:
    """A module that is none: Python says so."""
    program = PythonProgram("broken", "no_such_module", "confluent-kafka")
    broken = OtherBroker(name="broken", program=program, arguments=lambda _port, _topics: [])
    with (
        pytest.raises(RebalanceCheckError, match=r"broken ended with exit code 1: .*No module named no_such_module"),
        running(broken, {}),
    ):
        pass


def test_without_rust_tansu_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RebalanceCheckError, match="tansu needs Rust, and no 'cargo' is on the PATH: install Rust"):
        other_broker("tansu").program.command()
    with pytest.raises(RebalanceCheckError, match="'redpanda' is no broker of others: choose kfake, "):
        other_broker("redpanda")


def test_the_command_prints_the_address__and_ends_when_asked() -> None:
    command = [sys.executable, "-m", "rebalance_check.integration.kits.brokers_of_others", "librdkafka-mock", "a:2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address, *_ = process.stdout.readline().split()
        assert partitions(address) == {"a": 2}
        process.terminate()
        assert process.wait(60) == 128 + signal.SIGTERM
    with pytest.raises(ConnectionRefusedError):
        partitions(address)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["redpanda"], "'redpanda' is no broker of others"),
        (["kfake", "a"], "'a' describes no topics: write names with numbers of partitions, as in a:3,b:6"),
    ],
)
def test_the_command_refuses_what_it_does_not_know(arguments: list[str], sentence: str) -> None:
    command = [sys.executable, "-m", "rebalance_check.integration.kits.brokers_of_others", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(sentence)


def test_a_build_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "BUILD_TIMEOUT_S", 0.2)
    with pytest.raises(RebalanceCheckError, match="slow could not be built: `sleep 60` was ended after 0 s"):
        program.run_builder("slow", ["/bin/sleep", "60"], tmp_path)
