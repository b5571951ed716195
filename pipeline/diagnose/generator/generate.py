"""A folder as a cluster leaves it: logs of brokers, segments of ``__consumer_offsets``, and the truth about both.

::

    DIR/broker-1/server.log.2026-11-28-10           an hour of the broker's log
    DIR/broker-1/__consumer_offsets-7/000...0.log   a segment
    DIR/.truth.jsonl                                a line for each planted problem: group, problem, rule, since_ms

The same plan gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from heapq import merge
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Final

from rebalance_check.impl.protocol.java_order import string_hash
from rebalance_check.impl.protocol.java_text import low_bits
from rebalance_check.pipeline.diagnose.generator.groups import GroupScript, Line
from rebalance_check.pipeline.diagnose.generator.problems import LONGEST_MS, PROBLEMS, Problem
from rebalance_check.pipeline.diagnose.generator.segments import PartitionWriter, SegmentWriter

TRUTH: Final = ".truth.jsonl"
"""Hidden, so that `diagnose` passes over it."""
HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The size of it all. ``problems`` has the share of the groups that has each problem, by its name."""

    seed: int = 0
    groups: int = 50
    commits: int = 100_000
    """About so many."""
    problems: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(PROBLEMS, 0.04))
    members: int = 4
    topic_partitions: int = 12
    offsets_partitions: int = 50
    brokers: int = 3
    hours: int = 4
    start_ms: int = 1_795_860_000_000
    segment_bytes: int = 100_000_000


@dataclass(frozen=True, slots=True)
class Planted:
    """The truth about one group."""

    group: str
    problem: str
    rule: str
    since_ms: int


@dataclass(frozen=True, slots=True)
class Made:
    """The result: the commits that were written, and the truth."""

    commits: int
    planted: tuple[Planted, ...]


def generate(folder: Path, plan: Plan) -> Made:
    """Write the folder, which is not there yet.

    Raises: FileExistsError, or ValueError for an unknown problem.
    """
    unknown = sorted(set(plan.problems) - set(PROBLEMS))
    if unknown:
        raise ValueError(f"no problem is named {unknown[0]!r}: choose among {', '.join(PROBLEMS)}")
    folder.mkdir(parents=True)
    chosen = _chosen(plan)
    scripts: list[GroupScript] = []
    planted: list[Planted] = []
    for number in range(plan.groups):
        script, since = _script(plan, number, chosen.get(number))
        scripts.append(script)
        if since is not None and (problem := chosen.get(number)) is not None:
            planted.append(Planted(script.name, problem.name, problem.rule.name, since))
    for broker in range(plan.brokers):
        own = [one for one in scripts if one.offsets_partition % plan.brokers == broker]
        _write_log(folder / f"broker-{broker + 1}", plan, own)
    commits = _write_segments(folder, plan, scripts)
    lines = [json.dumps({"group": one.group, "problem": one.problem, "rule": one.rule, "since_ms": one.since_ms})
             for one in planted]  # fmt: skip
    (folder / TRUTH).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Made(commits, tuple(planted))


def _chosen(plan: Plan) -> dict[int, Problem]:
    """The problem of each group that has one: every problem with a share gets a group at least, while there are any."""
    free = list(range(plan.groups))
    Random(plan.seed).shuffle(free)
    found: dict[int, Problem] = {}
    for name, share in plan.problems.items():
        for _ in range(max(1, round(share * plan.groups)) if share else 0):
            if free:
                found[free.pop()] = PROBLEMS[name]
    return found


def _offsets_partition(group: str, plan: Plan) -> int:
    """``Utils.abs(groupId.hashCode()) % partitions``; the one number without a positive counterpart is 0."""
    number = low_bits(string_hash(group), 32)
    return (0 if number == -(1 << 31) else abs(number)) % plan.offsets_partitions


def _script(plan: Plan, number: int, problem: Problem | None) -> tuple[GroupScript, int | None]:
    """The happenings of one group, and the time at which its problem begins."""
    rng = Random(plan.seed * 1_000_003 + number)
    name = f"{rng.choice(('orders', 'billing', 'stock', 'mail', 'audit'))}-{number}"
    group = GroupScript(
        name, f"{name}-events", plan.topic_partitions, _offsets_partition(name, plan), rng,
        plan.start_ms + rng.randrange(60_000),
    )  # fmt: skip
    group.start(plan.members, f"{name}-instance" if problem is not None and problem.static else "")
    spare = max(60_000, plan.hours * HOUR_MS - LONGEST_MS)
    group.later(rng.randrange(spare // 4, spare // 2))
    if problem is None or not problem.static:
        last = group.members[-1]  # a rolling restart of one process
        group.leave(last)
        group.later(rng.randrange(5_000, 30_000))
        group.join(last.client)
        group.later(rng.randrange(spare // 4))
    if problem is None:
        return group, None
    since = group.now
    problem.play(group)
    return group, since


# ----------------------------------------------------------------------------------------------------------- the files


def _write_log(folder: Path, plan: Plan, scripts: Sequence[GroupScript]) -> None:
    """The log, a file an hour as Kafka's own appender names them, with the lines of a cleaner between the groups'."""
    folder.mkdir(parents=True, exist_ok=True)
    cleaner = (
        Line(plan.start_ms + minute * 60_000, "[GroupMetadataManager brokerId=1] Removed 0 expired offsets in 0 "
             "milliseconds. (kafka.coordinator.group.GroupMetadataManager)")
        for minute in range(0, plan.hours * 60 + 10, 10)
    )  # fmt: skip
    lines = merge(cleaner, *(one.lines for one in scripts), key=lambda line: line.time_ms)
    for hour, some in groupby(lines, key=lambda line: line.time_ms // HOUR_MS):
        name = datetime.fromtimestamp(hour * 3_600, UTC).strftime("server.log.%Y-%m-%d-%H")
        (folder / name).write_text("".join(_stamped(some)), encoding="utf-8")


def _stamped(lines: Iterator[Line]) -> Iterator[str]:
    for line in lines:
        time = datetime.fromtimestamp(line.time_ms // 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S")
        yield f"[{time},{line.time_ms % 1_000:03d}] INFO {line.text}\n"


def _write_segments(folder: Path, plan: Plan, scripts: Sequence[GroupScript]) -> int:
    rounds = max(1, round(plan.commits / max(1, plan.groups * plan.topic_partitions)))
    every_ms = plan.hours * HOUR_MS / rounds
    by_partition: dict[int, list[GroupScript]] = {}
    for one in scripts:
        by_partition.setdefault(one.offsets_partition, []).append(one)
    commits = 0
    for number, own in sorted(by_partition.items()):
        where = folder / f"broker-{number % plan.brokers + 1}" / f"__consumer_offsets-{number}"
        writer = SegmentWriter(where, plan.segment_bytes)
        commits += PartitionWriter(own, writer, plan.start_ms, every_ms).write(rounds)
    return commits
