"""A broker that cannot be had gives one clear sentence: what was wrong, the value seen, the next move."""

import os
import signal
import socket
from pathlib import Path

import pytest

from rebalance_check.integration.brokers import open_broker
from rebalance_check.integration.brokers.settings import server_properties
from rebalance_check.integration.interrupts import orderly_end
from rebalance_check.integration.wire.call import split_address
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def sentence(spec: str) -> str:
    with pytest.raises(RebalanceCheckError) as raised, open_broker(spec):
        pytest.fail("it opened")
    return str(raised.value)


@pytest.mark.parametrize("spec", ["kafka", "localhost:", ":9092", "localhost:99999", "localhost:http", ""])
def test_what_is_no_broker_is_refused_at_once(spec: str) -> None:
    message = sentence(spec)
    assert message.startswith(f"{spec!r} is no broker: write embedded, local, testcontainers, ")
    assert message.endswith("or HOST:PORT")


def test_an_address_without_broker_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rebalance_check.integration.brokers.open.EXTERNAL_TIMEOUT_S", 0.3)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        message = sentence(address)
    assert message.startswith(f"the broker at {address} does not coordinate groups after 0.3 s ([Errno 111]")
    assert message.endswith("check that a broker listens there")


def test_a_local_kafka_without_jars__names_the_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("REBALANCE_CHECK_KAFKA_JARS", raising=False)
    assert "REBALANCE_CHECK_KAFKA_JARS is not set" in sentence("local")
    monkeypatch.setenv("REBALANCE_CHECK_KAFKA_JARS", str(tmp_path))
    assert f"{str(tmp_path)!r} holds no Kafka" in sentence("local")


def test_a_local_kafka_without_java__names_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kafka_2.13-4.3.1.jar").touch()
    monkeypatch.setenv("REBALANCE_CHECK_KAFKA_JARS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "no 'java' is on the PATH" in sentence("local")


def test_containers_without_docker__name_docker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert sentence("testcontainers").startswith("no Docker daemon answers (")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_order_to_end_becomes_an_exit__and_only_inside(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_DFL)  # the shell that started the tests may ignore it
    try:
        with pytest.raises(SystemExit) as ended, orderly_end():
            os.kill(os.getpid(), number)
        assert ended.value.code == 128 + number
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_an_order_to_end_that_was_ignored__stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with orderly_end():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_node_binds_the_given_address__and_advertises_loopback() -> None:
    text = server_properties(
        listen="0.0.0.0", port=9092, controller_port=9093, advertised_port=12345, log_dir="/tmp/kafka-data"
    )
    settings = dict(line.split("=", 1) for line in text.splitlines())
    assert settings["listeners"] == "PLAINTEXT://0.0.0.0:9092,CONTROLLER://127.0.0.1:9093"
    assert settings["advertised.listeners"] == "PLAINTEXT://127.0.0.1:12345"
    assert settings["group.initial.rebalance.delay.ms"] == "0"


def test_an_address_is_split_at_its_last_colon() -> None:
    assert split_address("[::1]:9092") == ("[::1]", 9092)
