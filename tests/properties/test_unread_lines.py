"""A line that cannot be read hides no verdict: what is violated before it stands, what depends on it is undecided."""

import random
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, PartitionsAssigned, PartitionsRevoked, RunEnded, RunStarted
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.files import judge_file, readable_events
from rebalance_check.properties.history import encode, read_history, scan_history, scan_lines
from rebalance_check.properties.judge import judge_scanned
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.malformed import MAX_LINE, MalformedHistory, UnreadLine
from rebalance_check.properties.verdict import Outcome, Undecided, Violated

CLAIM = "no_double_ownership"


def owns(member: str, group: str = "g") -> bytes:
    return encode(
        PartitionsAssigned(group=group, source=member, seq=0, member=member, generation=1, partitions=("t-0",))
    )


def gives_up(member: str, group: str = "g") -> bytes:
    return encode(
        PartitionsRevoked(group=group, source=member, seq=1, member=member, generation=1, partitions=("t-0",))
    )


STARTED = encode(RunStarted(group="g", source="harness", seq=0, subject="by hand"))
ENDED = encode(RunEnded(group="g", source="harness", seq=1))
GOOD = [STARTED, owns("m0"), gives_up("m0"), owns("m1"), ENDED]
BAD = [STARTED, owns("m0"), owns("m1"), ENDED]

LOST = {
    "half an event": gives_up("m0")[:40],
    "an unknown field": b'{"event":"PartitionsRevoked","member":"m0","epoch":1}',
    "a misspelt event": b'{"event":"PartitionRevoked","group":"g","member":"m0"}',
    "a list": b"[1, 2]",
    "zeros of a disk": b"\0" * 100,
    "bytes that are no text": b"\xff\xfe",
    "nested too deeply": b"[" * 100_000,
}
"""Lines in which an event may have been."""
FOREIGN = {
    "nothing": b"",
    "a line of a log": b"12:00:01 INFO rebalance done",
    "a comment": b"# second attempt",
    "an event of another vocabulary": b'{"event":"ZkSessionExpired","group":"g"}',
}
"""Lines in which no event of this vocabulary was."""


def judged(lines: Iterable[bytes], name: str = CLAIM) -> Judgement:
    return judge_scanned(scan_lines([line + b"\n" for line in lines], "h"), select([name]))


@pytest.mark.parametrize("line", LOST.values(), ids=LOST)
def test_a_violation_before_the_line_stands(line: bytes) -> None:
    judgement = judged([*BAD, line])
    assert judgement.verdict(CLAIM).outcome is Outcome.VIOLATED
    assert judgement.exit_code is ExitCode.SAFETY
    assert judgement.unread[0].fault.startswith("h, line 5: ")


@pytest.mark.parametrize("line", LOST.values(), ids=LOST)
@pytest.mark.parametrize("place", range(len(GOOD) + 1))
def test_a_history_that_holds__is_undecided_with_such_a_line(line: bytes, place: int) -> None:
    judgement = judged([*GOOD[:place], line, *GOOD[place:]])
    verdict = judgement.verdict(CLAIM)
    assert isinstance(verdict, Undecided)
    assert f"h, line {place + 1}: " in verdict.reason
    assert judgement.exit_code is ExitCode.USAGE


def test_what_looks_violated_after_the_line__is_named_and_undecided() -> None:
    """The line may be the very event that gave the partition up."""
    verdict = judged([owns("m0"), LOST["half an event"], owns("m1")]).verdict(CLAIM)
    assert isinstance(verdict, Undecided)
    assert "but for that the invariant looks violated (t-0 is owned by m0 and m1 in generation 1)" in verdict.reason


@pytest.mark.parametrize("line", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("place", range(5))
def test_a_line_in_which_no_event_was__changes_no_verdict_but_is_bad_input(line: bytes, place: int) -> None:
    bad, good = judged([*BAD[:place], line, *BAD[place:]]), judged([*GOOD[:place], line, *GOOD[place:]])
    assert (bad.outcome, bad.exit_code) == (Outcome.VIOLATED, ExitCode.SAFETY)
    assert (good.outcome, good.exit_code) == (Outcome.HELD, ExitCode.USAGE)
    assert good.unread[0].fault.startswith(f"h, line {place + 1}: ")


def test_a_line_that_names_its_group__concerns_no_other() -> None:
    lines = [owns("m0", "a"), b'{"event":"MemberLeft","group":"b","mamber":"x"}', owns("m1", "a"), owns("m0", "b")]
    judgement = judged(lines)
    assert judgement.verdict(CLAIM).outcome is Outcome.VIOLATED
    assert isinstance(judged([*lines[:2], owns("m0", "b"), owns("m1", "b")]).verdict(CLAIM), Undecided)


def test_a_last_line_that_is_cut__leaves_a_violation_and_nothing_else_decided() -> None:
    for length in range(1, len(ENDED)):
        cut = ENDED[:length]
        bad = judge_scanned(scan_lines([*(line + b"\n" for line in BAD[:-1]), cut], "h"), CATALOGUE)
        assert bad.verdict(CLAIM).outcome is Outcome.VIOLATED
        assert bad.exit_code is ExitCode.SAFETY
        good = judge_scanned(scan_lines([*(line + b"\n" for line in GOOD[:-1]), cut], "h"), CATALOGUE)
        assert {verdict.outcome for verdict in good.verdicts.values()} == {Outcome.UNDECIDED}
        assert good.exit_code is ExitCode.UNDECIDED
        reason = good.verdict(CLAIM)
        assert isinstance(reason, Undecided)
        assert f"h, line 5: the line is cut off after {length} bytes" in reason.reason


def test_a_history_of_one_line_that_is_cut__is_undecided(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(ENDED[:20])
    judgement = judge_file(path)
    assert (judgement.events, judgement.exit_code) == (0, ExitCode.UNDECIDED)


def test_many_bad_lines__are_counted_and_the_first_are_named() -> None:
    judgement = judged([GOOD[0], *[b"{"] * 400, *GOOD[1:]])
    assert (judgement.unread_count, len(judgement.unread)) == (400, 10)


def test_a_file_without_any_event__is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(5_000))
    with pytest.raises(MalformedHistory, match=r"picture\.png, line 1: "):
        judge_file(path)


def test_a_history_of_another_format__is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'{"event":"RunStarted","subject":"s","format":9}\n' + owns("m0") + b"\n")
    with pytest.raises(MalformedHistory, match="line 1: this history has format 9"):
        judge_file(path)


def grown(work: Callable[[], object]) -> int:
    """The most memory in bytes that the work had at one time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [10_000_000, 60_000_000])
@pytest.mark.parametrize("ends", [b"\n", b""])
def test_a_line_that_is_too_long__is_refused_without_being_held(tmp_path: Path, size: int, ends: bytes) -> None:
    path = tmp_path / "history.jsonl"
    with path.open("wb") as file:
        file.write(b"\n".join(BAD) + b'\n{"event":"MemberStarted","member":"')
        file.truncate(size)
        file.seek(size)
        file.write(ends + (b"\n".join([b"", *GOOD][1:]) if ends else b""))
    judgement = judge_file(path, select([CLAIM]))
    assert judgement.verdict(CLAIM).outcome is Outcome.VIOLATED
    assert "line 5: the line is longer than 8 MiB" in judgement.unread[0].fault
    assert judgement.events == len(BAD) + (len(GOOD) if ends else 0)
    assert grown(lambda: list(readable_events(path))) < 5 * MAX_LINE
    with pytest.raises(MalformedHistory, match="longer than 8 MiB"):
        list(read_history(path))


def test_the_longest_line_that_is_read__is_longer_than_any_event(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    event = PartitionsAssigned(member="m", generation=1, partitions=tuple(f"topic-{i}" for i in range(100_000)))
    path.write_bytes(encode(event) + b"\n")
    assert list(read_history(path)) == [event]


def test_what_cannot_be_opened__is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RebalanceCheckError, match="cannot be opened"):
        judge_file(tmp_path)


def test_a_violation_is_never_lost_nor_invented_by_damage() -> None:
    """Random damage to lines of a history that holds, and of one that does not: no verdict turns into another."""
    rng = random.Random(20)
    for _ in range(400):
        lines = list(rng.choice((GOOD, BAD)))
        place = rng.randrange(len(lines))
        line = bytearray(lines[place])
        line[rng.randrange(len(line))] = rng.randrange(256)
        whole = judge_scanned(scan_lines([each + b"\n" for each in lines], "h"), select([CLAIM])).verdict(CLAIM)
        lines[place] = bytes(line)
        damaged = judge_scanned(scan_lines([each + b"\n" for each in lines], "h"), select([CLAIM]))
        if damaged.unread and not isinstance(whole, Violated):
            assert damaged.verdict(CLAIM).outcome is not Outcome.VIOLATED
        if damaged.unread and not any(one.is_foreign for one in damaged.unread):
            assert damaged.exit_code is not ExitCode.HELD


def test_reading_says_which_lines_are_no_events(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b"\n".join([GOOD[0], b"{", GOOD[1]]))
    kinds = [type(one) for one in scan_history(path)]
    assert kinds == [RunStarted, UnreadLine, PartitionsAssigned]
    events: list[Event] = list(readable_events(path))
    assert len(events) == 2
