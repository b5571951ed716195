"""``rebalance-check live`` on the embedded broker: recorded first, judged, and printed as one JSON object."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from rebalance_check.cli import run
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import MemberStarted, RunEnded
from rebalance_check.properties.history import read_history

pytest.importorskip("kafka", reason="live clients need the extra 'brokers'")

from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.live import process


def test_status_stores_are_recorded_and_judged__each_seed_in_a_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["live", "--protocol", "status", "--members", "2", "--steps", "10", "--seeds", "0:2", "--json"]
    assert run([*asked, "--out", str(tmp_path)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["runs"], said["verdict"], said["broker"]) == (2, "held", "embedded")
    assert said["verdicts"]["safe_status_writes.cache_follows_reads"]["checked_events"] > 0
    assert all(Path(history["file"]).stat().st_size > 0 for history in said["histories"])


def test_a_seed_that_is_run_again__overwrites_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["live", "--protocol", "status", "--members", "1", "--steps", "2", "--json", "--out", str(tmp_path)]
    seen: dict[str, bytes] = {}
    for history in ("status-0.jsonl", "status-0.2.jsonl", "status-0.3.jsonl"):
        assert run(asked) == 0
        said = json.loads(capsys.readouterr().out)
        assert [Path(each["file"]).name for each in said["histories"]] == [history]
        now = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert seen.items() <= now.items()
        assert history in now.keys() - seen.keys()
        seen = now
    assert {path.name for path in (tmp_path / "status-0.2.raw").iterdir()} == {"harness.raw", "w0.raw"}


@pytest.mark.parametrize(
    ("protocol", "number", "code"), [("cooperative", signal.SIGINT, 130), ("status", signal.SIGTERM, 143)]
)
def test_an_interrupted_run__ends_soon_and_keeps_what_was_recorded(
    protocol: str, number: signal.Signals, code: int, tmp_path: Path
) -> None:
    steps = {"cooperative": "1000", "status": "10000"}[protocol]
    command = [sys.executable, "-m", "rebalance_check", "live", "--protocol", protocol, "--members", "2"]
    process = subprocess.Popen(
        [*command, "--steps", steps, "--out", str(tmp_path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        deadline = time.monotonic() + 60
        while sum(path.stat().st_size for path in tmp_path.glob("*.raw/*")) < 4_000:
            assert process.poll() is None
            assert time.monotonic() < deadline, "nothing was recorded"
            time.sleep(0.05)
        began = time.monotonic()
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
        print(f"live {protocol} {number.name}: ended after {time.monotonic() - began:.2f} s")
    finally:
        process.kill()
        process.wait()
    assert process.returncode == code, said
    assert f"ended by {number.name}" in said.decode()
    kept = list(read_history(tmp_path / f"{protocol}-0.jsonl"))
    assert len(kept) > 5
    assert not any(isinstance(event, RunEnded) for event in kept)


def test_a_writer_that_fails__fails_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise RebalanceCheckError("the write was refused")

    monkeypatch.setattr("rebalance_check.integration.live.status_workers.KafkaStatusWorker.write", refuse)
    assert run(["live", "--protocol", "status", "--members", "1", "--json", "--out", str(tmp_path)]) == 2
    assert json.loads(capsys.readouterr().out)["error"] == "the write was refused"


def test_consumers_are_recorded_and_judged__through_joins_and_leaves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [
        "live",
        "--protocol",
        "cooperative",
        "--members",
        "2",
        "--steps",
        "3",
        "--invariant",
        "ownership",
        "--json",
    ]
    assert run([*asked, "--out", str(tmp_path)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdicts"]["no_double_ownership"]["verdict"] == "held"
    assert said["verdicts"]["no_double_ownership"]["checked_events"] > 0


CRASHES = """
import os, sys
from rebalance_check.integration.live import member
from rebalance_check.integration.live.clients.kafka_python import KafkaPython
poll, polls = KafkaPython.poll, []
def few_polls(self, timeout_ms):
    polls.append(timeout_ms)
    if len(polls) > 1 and '"member":"m1"' in sys.argv[1]:
        print("the heap is corrupt", file=sys.stderr, flush=True)
        os.abort()
    poll(self, timeout_ms)
KafkaPython.poll = few_polls
member.main()
"""
"""A member as always, but that the client library of m1 ends its process at its second poll."""

TWO_MEMBERS = ["live", "--protocol", "eager", "--members", "2", "--steps", "1", "--invariant", "ownership"]


def test_a_client_that_crashes__breaks_the_run_off__and_what_it_printed_last_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "PROGRAM", ("-c", CRASHES))
    assert run([*TWO_MEMBERS, "--json", "--out", str(tmp_path)]) == 12
    said, shown = capsys.readouterr()
    document = json.loads(said)
    (history,) = document["histories"]
    crashed = "member m1 (kafka-python) crashed with exit code -6; its last lines: the heap is corrupt"
    assert (document["verdict"], history["verdict"], history["broke_off"]) == ("undecided", "undecided", crashed)
    assert f"the run broke off: {crashed}" in shown
    kept = list(read_history(history["file"]))
    assert {event.member for event in kept if isinstance(event, MemberStarted)} == {"m0", "m1"}
    assert not any(isinstance(event, RunEnded) for event in kept)


def test_a_client_that_never_starts__leaves_nothing_to_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "PROGRAM", ("-c", "raise SystemExit('no such library')"))
    assert run([*TWO_MEMBERS, "--json", "--out", str(tmp_path)]) == 2
    assert "its last lines: no such library" in json.loads(capsys.readouterr().out)["error"]


def test_a_broker_that_goes_away__breaks_the_run_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broker = EmbeddedBroker()
    broker.__enter__()
    address = broker.bootstrap

    def m1_owns() -> bool | NotYet:
        seen = b"".join(path.read_bytes() for path in tmp_path.glob("*.raw/*-m1.raw"))
        return b"AssignmentCompleted" in seen or NotYet()

    def end_the_broker() -> None:
        await_until(m1_owns, timeout_s=60, pause_s=0.01, otherwise="m1 was given no partitions")
        broker.__exit__(None, None, None)

    ending = Thread(target=end_the_broker)
    ending.start()
    code = run([*TWO_MEMBERS, "--steps", "3", "--broker", address, "--json", "--out", str(tmp_path)])
    ending.join()
    document = json.loads(capsys.readouterr().out)
    assert (code, document["verdict"]) == (12, "undecided")
    assert document["histories"][0]["broke_off"].startswith(f"the broker at {address} answers no more")
    assert document["events"] > 0
