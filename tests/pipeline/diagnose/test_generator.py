"""Generated folders: the same plan gives the same bytes, each planted problem is found, and nothing else."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path

import pytest

from rebalance_check.pipeline.diagnose.diagnosis import diagnose
from rebalance_check.pipeline.diagnose.dumps.crc32c import crc32c
from rebalance_check.pipeline.diagnose.dumps.segments import read_segment
from rebalance_check.pipeline.diagnose.facts import GroupRecorded, NotUnderstood, OffsetRecorded
from rebalance_check.pipeline.diagnose.findings.finding import Severity
from rebalance_check.pipeline.diagnose.generator.generate import TRUTH, Plan, generate
from rebalance_check.pipeline.diagnose.generator.problems import PROBLEMS

SMALL = Plan(seed=7, groups=20, commits=10_000, offsets_partitions=5, segment_bytes=50_000)


def digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return found.hexdigest()


def test_the_same_plan_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("one", 7), ("two", 7), ("other", 8)):
        generate(tmp_path / name, Plan(seed=seed, groups=20, commits=10_000))
    assert digest(tmp_path / "one") == digest(tmp_path / "two") != digest(tmp_path / "other")


def test_segments_follow_one_another_and_every_batch_is_sound(tmp_path: Path) -> None:
    made = generate(tmp_path / "made", SMALL)
    commits = groups = 0
    for folder in sorted(tmp_path.glob("made/broker-*/__consumer_offsets-*")):
        files = sorted(folder.iterdir())
        assert len(files) > 1
        facts = [fact for path in files for fact in read_segment(path.open("rb"), folder.name)]
        assert not [fact for fact in facts if isinstance(fact, NotUnderstood)]
        numbers = [fact.place.number for fact in facts]
        assert numbers == list(range(len(numbers)))
        first_of_last = next(read_segment(files[-1].open("rb"), folder.name))
        assert first_of_last.place.number == int(files[-1].stem)
        times = [fact.time_ms for fact in facts if not isinstance(fact, NotUnderstood) and fact.time_ms is not None]
        assert all(after - before > -10_000 for before, after in pairwise(times))
        commits += sum(isinstance(fact, OffsetRecorded) for fact in facts)
        groups += sum(isinstance(fact, GroupRecorded) for fact in facts)
    assert commits == made.commits
    assert abs(commits - SMALL.commits) < 500
    assert 100 > groups > 60


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_planted_problem_is_found__and_no_other_group_is_accused(problem: str, tmp_path: Path) -> None:
    made = generate(tmp_path / "made", Plan(seed=3, groups=6, commits=3_000, problems={problem: 0.3}, brokers=2))
    lines = (tmp_path / "made" / TRUTH).read_text().splitlines()
    assert [json.loads(line)["group"] for line in lines] == [one.group for one in made.planted]
    assert len(made.planted) == 2
    accused: dict[str, set[str]] = {}
    for finding in diagnose([tmp_path / "made"]).findings:
        if finding.severity is not Severity.NOTE:
            accused.setdefault(finding.group, set()).add(finding.rule.name)
    assert set(accused) == {one.group for one in made.planted}
    assert all(one.rule in accused[one.group] for one in made.planted)


def test_an_unknown_problem_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no problem is named 'strom': choose among storm"):
        generate(tmp_path / "made", Plan(problems={"strom": 1.0}))


def test_checksums_of_many_pieces_are_those_of_each() -> None:
    import numpy as np  # noqa: PLC0415 - the extra `explore`

    from rebalance_check.pipeline.diagnose.dumps.checksums import PADDING, checksums  # noqa: PLC0415 - as above

    data = np.frombuffer(b"".join(number.to_bytes(4, "big") for number in range(6_000)) + bytes(PADDING), np.uint8)
    lengths = [length for length in range(120) for _ in range(3)] + [5_000, 3_000]
    starts = np.cumsum([0, *lengths[:-1]], dtype=np.int64)
    ends = starts + np.array(lengths, np.int64)
    expected = [crc32c(data[start:end].tobytes()) for start, end in zip(starts, ends, strict=True)]
    assert checksums(data, starts, ends).tolist() == expected
