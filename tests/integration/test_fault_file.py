"""Faults from a file: a line is a fault, and a line that is none says what to write."""

from pathlib import Path

import pytest

from rebalance_check.integration.exchange.fault_file import faults_in, line_of, read_faults
from rebalance_check.integration.exchange.faults import Effect, Fault
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

EVERY_VERB = """
# Comments and empty lines are skipped.
delay JoinGroup 500 client=a
drop SyncGroup instance=i nth=2 times=3   # a comment behind a fault

close-before Heartbeat process=p1
close-after OffsetCommit member=consumer-
answer FindCoordinator COORDINATOR_NOT_AVAILABLE
move Heartbeat 2 nth=5
end-session Heartbeat client="two words"
jump-clock Metadata 60000
"""


def test_each_line_is_a_fault() -> None:
    assert faults_in(EVERY_VERB, "f").pending == (
        Fault("JoinGroup", Effect.DELAY, delay_s=0.5, client_id="a"),
        Fault("SyncGroup", Effect.DROP_REPLY, instance_id="i", nth=2, times=3),
        Fault("Heartbeat", Effect.CLOSE_BEFORE, process="p1"),
        Fault("OffsetCommit", Effect.CLOSE_AFTER, member_id="consumer-"),
        Fault("FindCoordinator", Effect.ANSWER, error=Error.COORDINATOR_NOT_AVAILABLE),
        Fault("Heartbeat", Effect.MOVE_COORDINATOR, node=2, nth=5),
        Fault("Heartbeat", Effect.END_SESSION, client_id="two words"),
        Fault("Metadata", Effect.JUMP_CLOCK, jump_ms=60_000),
    )


def test_a_fault_is_written_as_a_line_that_reads_as_the_same_fault() -> None:
    faults = faults_in(EVERY_VERB, "f").pending
    written = [line_of(fault) for fault in faults]
    assert written[:2] == ["delay JoinGroup 500 client=a", "drop SyncGroup nth=2 times=3 instance=i"]
    assert faults_in("\n".join(written), "f").pending == faults


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("slow JoinGroup 5", "'slow' in 'slow JoinGroup 5' is no verb of faults: use one of answer, close-after"),
        ("delay JoinGrup 5", "'JoinGrup' is no API; write delay API MS [nth= times= client="),
        ("delay JoinGroup", "it has 1 words behind the verb; write delay API MS"),
        ("delay JoinGroup soon", "'soon' is no MS"),
        ("delay JoinGroup 0", "needs delay_s > 0"),
        ("delay JoinGroup 5 who=a", "who= is no option of this verb"),
        ("drop JoinGroup nth=first", "nth= takes a whole number, and not 'first'"),
        ("drop JoinGroup nth=0", "needs nth and times from 1, not 0, 1"),
        ("answer Heartbeat 16", "'16' is no ERROR"),
        ("answer OffsetForLeaderEpoch NOT_COORDINATOR", "cannot answer OffsetForLeaderEpoch"),
        ("move Heartbeat first", "'first' is no NODE"),
        ("drop 'JoinGroup", "No closing quotation"),
    ],
)
def test_a_line_that_is_no_fault_says_where_and_what_to_write(line: str, message: str) -> None:
    with pytest.raises(RebalanceCheckError) as raised:
        faults_in(f"# first\n{line}\n", "churn.faults")
    assert str(raised.value).startswith("churn.faults:2: ")
    assert message in str(raised.value)


def test_a_file_is_read__and_one_that_cannot_be_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f.faults"
    path.write_text("drop SyncGroup\n")
    assert read_faults(path).pending == (Fault("SyncGroup", Effect.DROP_REPLY),)
    path.write_bytes(b"\xff\xfe")
    for wrong in (path, tmp_path / "missing"):
        with pytest.raises(RebalanceCheckError, match=f"cannot read faults from .*{wrong.name}"):
            read_faults(wrong)
