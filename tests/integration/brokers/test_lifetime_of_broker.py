"""A broker that was started here is gone afterwards: also after a failure, an interrupt, or an order to end."""

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from rebalance_check.integration.brokers import Broker, open_broker
from rebalance_check.integration.wire.call import split_address

pytestmark = [pytest.mark.broker, pytest.mark.started_here]

PROGRAM = """
import signal, sys, time
from rebalance_check.integration.brokers import open_broker
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is started with it ignored
with open_broker(sys.argv[1]) as broker:
    print(broker.bootstrap, flush=True)
    time.sleep(300)
"""


def listens(bootstrap: str) -> bool:
    try:
        socket.create_connection(split_address(bootstrap), 1).close()
    except OSError:
        return False
    return True


@pytest.fixture
def owner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The mark of the brokers of this test, in this process and in those it starts: others may run on the machine."""
    name = uuid.uuid4().hex
    monkeypatch.setenv("REBALANCE_CHECK_OWNER", name)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return name


def left_behind(spec: str, owner: str) -> list[str]:
    """Containers with our label, or folders of a local Kafka."""
    if spec == "testcontainers":
        from rebalance_check.integration.brokers.container import LABEL  # noqa: PLC0415 - needs Docker's client

        command = ["docker", "ps", "--all", "--quiet", "--filter", f"label={LABEL}={owner}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return [str(path) for path in Path(os.environ["TMPDIR"]).glob("rebalance-check-kafka-*")]


def test_ports_are_published_on_loopback_only(real: Broker) -> None:
    host, port = split_address(real.bootstrap)
    assert host == "127.0.0.1"
    listening = Path("/proc/net/tcp").read_text().splitlines()[1:]
    addresses = {line.split()[1].split(":")[0] for line in listening if line.split()[1].endswith(f":{port:04X}")}
    assert addresses == {"0100007F"}


def test_a_failure_inside_leaves_nothing_behind(spec: str, owner: str) -> None:
    started: list[Broker] = []

    def fail_with_a_broker() -> None:
        with open_broker(spec) as broker:
            started.append(broker)
            assert listens(broker.bootstrap)
            assert len(left_behind(spec, owner)) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_with_a_broker()
    assert not listens(started[0].bootstrap)
    assert left_behind(spec, owner) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(spec: str, owner: str, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, spec], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with process:
        assert process.stdout is not None
        bootstrap = process.stdout.readline().strip()
        assert listens(bootstrap)
        assert len(left_behind(spec, owner)) == 1
        process.send_signal(number)
        process.wait(60)
    deadline = time.monotonic() + 10
    while listens(bootstrap) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not listens(bootstrap)
    assert left_behind(spec, owner) == []
