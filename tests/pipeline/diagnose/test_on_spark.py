"""`diagnose` on Spark finds the same as on this machine: in all samples, generated clusters, addresses and parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, diagnose
from rebalance_check.pipeline.diagnose.dumps.segments import read_segment
from rebalance_check.pipeline.diagnose.facts import OffsetRecorded
from rebalance_check.pipeline.diagnose.findings.finding import Thresholds
from rebalance_check.pipeline.diagnose.generator.generate import Made, Plan, generate

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

DATA = Path("tests/data/diagnose")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Made]:
    folder = tmp_path_factory.mktemp("generated") / "made"
    return folder, generate(folder, Plan(seed=11, groups=30, commits=60_000, offsets_partitions=4))


def on_spark(spark: Any, locations: list[str], **settings: Any) -> Diagnosis:
    from rebalance_check.pipeline.diagnose.spark.engine import diagnose_on_spark  # noqa: PLC0415 - an extra

    return diagnose_on_spark(spark, locations, **settings)


def readings(diagnosis: Diagnosis) -> list[tuple[object, ...]]:
    return [(one.name, one.kind, one.lines, one.count, one.not_understood, one.examples, one.fault)
            for one in diagnosis.sources]  # fmt: skip


def assert_same(found: Diagnosis, expected: Diagnosis) -> None:
    assert found.findings == expected.findings
    assert readings(found) == readings(expected)
    assert found.clocks == expected.clocks
    assert [one.group.name for one in found.groups] == [one.group.name for one in expected.groups]
    assert found.generations == expected.generations
    assert found.exit_code() == expected.exit_code()


SAMPLES = ["logs/broker/4.3.1", "logs/connect", "dumps/connect-3.9.2", ""]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples(name: str, spark: Any) -> None:
    assert_same(on_spark(spark, [str(DATA / name)]), diagnose([DATA / name]))


def test_a_generated_cluster__its_segments_whole_and_in_parts(spark: Any, made: tuple[Path, Made]) -> None:
    folder, truth = made
    expected = diagnose([folder])
    found = on_spark(spark, [str(folder)])
    assert_same(found, expected)
    assert {one.group for one in truth.planted} <= {finding.group for finding in found.findings}
    assert_same(on_spark(spark, [str(folder)], part_bytes=40_000), expected)


def test_groups_and_thresholds_are_those_that_were_asked_for(spark: Any, made: tuple[Path, Made]) -> None:
    folder, truth = made
    only = [truth.planted[0].group, truth.planted[1].group, "no such group"]
    limits = Thresholds(storm_rebalances=1, join_ms=500)
    found = on_spark(spark, [str(folder)], only=only, limits=limits)
    assert_same(found, diagnose([folder], only, limits))
    assert [one.group.name for one in found.groups] != []


def test_addresses_are_read_by_hadoop(spark: Any, made: tuple[Path, Made]) -> None:
    folder, _ = made
    found, expected = on_spark(spark, [folder.as_uri()]), diagnose([folder])
    assert found.findings == expected.findings
    assert sorted(map(str, readings(found))) == sorted(map(str, readings(expected)))


def test_an_address_that_hadoop_cannot_list_is_named(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(RebalanceCheckError, match=r"Hadoop cannot list s3a://bucket/x \(.*: check the address"):
        on_spark(spark, ["s3a://bucket/x"])


def test_a_path_that_is_not_there_is_a_source_with_a_fault(spark: Any, tmp_path: Path) -> None:
    paths = [DATA / "logs/broker/2.8.2", tmp_path / "nothing"]
    assert_same(on_spark(spark, [str(path) for path in paths]), diagnose(paths))


@pytest.mark.parametrize("part_bytes", [100_000_000, 40_000])
def test_each_commit_is_a_row_for_sql(part_bytes: int, spark: Any, made: tuple[Path, Made]) -> None:
    from rebalance_check.pipeline.diagnose.spark.reading import CommitSource  # noqa: PLC0415 - an extra

    spark.dataSource.register(CommitSource)
    folder, truth = made
    options = {"paths": json.dumps([str(folder)]), "part_bytes": str(part_bytes)}
    rows = spark.read.format(CommitSource.name()).options(**options).load()
    assert rows.count() == truth.commits
    (path, *_) = sorted(folder.glob("broker-*/*/*.log"))
    name = f"{path.parent.name}/{path.name}"
    expected = [fact for fact in read_segment(path.open("rb"), name) if isinstance(fact, OffsetRecorded)]
    found = rows.where(rows["log"] == name).orderBy("number").collect()
    assert [tuple(row) for row in found] == [
        (name, fact.place.number, fact.time_ms, fact.group, fact.partition, fact.offset) for fact in expected
    ]
