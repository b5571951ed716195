"""A partition of ``__consumer_offsets`` says the same as a segment, by kafka-dump-log and by the console consumer."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.pipeline.diagnose.dumps.console import read_console
from rebalance_check.pipeline.diagnose.dumps.dump_log import read_dump_log
from rebalance_check.pipeline.diagnose.facts import (
    GroupRecorded,
    ModernGroupSeen,
    OffsetRecorded,
    Place,
    RecordedMember,
)

Facts = list[Any]
NOWHERE = Place("", 0)
RELEASES = {"3.9.2": (27, {"GroupRecorded": 25, "OffsetRecorded": 2}),
            "4.3.1": (92, {"GroupRecorded": 29, "OffsetRecorded": 2, "ModernGroupSeen": 61})}  # fmt: skip


def without_places(facts: Facts) -> Facts:
    return [replace(fact, place=NOWHERE) for fact in facts]


def of_groups(facts: Facts, groups: set[str]) -> dict[str, Facts]:
    """The records of each of these groups, without the place, the partition and the time of the record."""
    bare = [replace(each, place=NOWHERE, time_ms=None, partition=None) for each in facts if type(each) is GroupRecorded]
    return {group: [each for each in bare if each.group == group] for group in groups}


@pytest.mark.parametrize("release", RELEASES)
def test_a_segment_and_its_dump_say_the_same(
    release: str, sample: Callable[[str], bytes], segment: Callable[..., Facts], read: Callable[..., Facts]
) -> None:
    name = f"{release}/segment-__consumer_offsets-0.log"
    raw = segment(sample(name), name)
    dumped = read(read_dump_log, f"{release}/dumplog-__consumer_offsets-0.dump")
    count, kinds = RELEASES[release]
    assert (len(raw), Counter(type(fact).__name__ for fact in raw)) == (count, kinds)
    assert without_places(raw) == without_places(dumped)
    assert [fact.place.number for fact in raw] == list(range(count))
    assert {fact.partition for fact in raw if isinstance(fact, GroupRecorded)} == {0}


def test_the_console_in_json_says_the_same_of_groups_but_for_their_times(
    sample: Callable[[str], bytes], segment: Callable[..., Facts], read: Callable[..., Facts]
) -> None:
    name = "4.3.1/segment-__consumer_offsets-0.log"
    raw = segment(sample(name), name)
    console = read(read_console, "4.3.1/console-group-metadata.dump")
    groups = {"orders-churn", "bill-holdup", "geo-848", "app-confluent", "cart-restart"}
    assert of_groups(console, groups) == of_groups(raw, groups)
    assert sum(len(facts) for facts in of_groups(raw, groups).values()) == 29
    assert all(fact.time_ms is None for fact in console)


def test_the_console_in_scala_says_less_of_the_same(read: Callable[..., Facts]) -> None:
    console = read(read_console, "3.9.2/console-group-metadata.dump")
    dumped = read(read_dump_log, "3.9.2/dumplog-__consumer_offsets-0.dump")
    groups = {"orders-churn", "bill-holdup", "app-confluent", "cart-restart"}
    shown, known = of_groups(console, groups), of_groups(dumped, groups)
    assert len(console) == 75
    for group in groups:
        expected = [
            replace(
                each, leader="", protocol=each.protocol, state_time_ms=None,
                members=tuple(replace(one, topics=(), owned=(), claimed_generation=None, assignment=None)
                              for one in each.members),
            )
            for each in known[group]
        ]  # fmt: skip
        assert [sorted_members(each) for each in shown[group]] == [sorted_members(each) for each in expected]


def sorted_members(record: GroupRecorded) -> GroupRecorded:
    return replace(record, members=tuple(sorted(record.members, key=lambda one: one.member)))


def test_a_record_of_a_group_is_read_whole(sample: Callable[[str], bytes], segment: Callable[..., Facts]) -> None:
    name = "3.9.2/segment-__consumer_offsets-0.log"
    first, second = "m1-78c36e5b-907c-4b2d-876f-d0cd968bcff6", "m2-fda76804-3ce5-40ea-b29b-c4bbca14c6d2"
    assert segment(sample(name), name)[1] == GroupRecorded(
        place=Place(name, 1), time_ms=1795875009376, group="orders-churn", generation=2, leader=first,
        protocol="range", protocol_type="consumer", state_time_ms=1795875009364, partition=0,
        members=tuple(
            RecordedMember(
                member=member, client=member[:2], host="127.0.0.1", session_timeout_ms=6_000,
                rebalance_timeout_ms=300_000, topics=("t-orders-churn",), owned=(), claimed_generation=claim,
                assignment=partitions,
            )
            for member, claim, partitions in (
                (first, 1, ("t-orders-churn-0", "t-orders-churn-1")),
                (second, -1, ("t-orders-churn-2", "t-orders-churn-3")),
            )
        ),
    )  # fmt: skip


def test_static_members_and_cooperative_claims_are_read(
    sample: Callable[[str], bytes], segment: Callable[..., Facts]
) -> None:
    name = "3.9.2/segment-__consumer_offsets-1.log"
    raw = segment(sample(name), name)
    static = [fact for fact in raw if fact.group == "stock-static"]
    assert [(fact.generation, {one.instance: one.member[-4:] for one in fact.members}) for fact in static] == [
        (1, {"inst-s1": "fe3e", "inst-s2": "f239"}),
        (1, {"inst-s1": "ae64", "inst-s2": "f239"}),
        (1, {"inst-s1": "e4af", "inst-s2": "f239"}),
        (2, {"inst-s1": "e4af"}),
        (3, {}),
    ]
    claims = [(fact.group, one.claimed_generation) for fact in raw for one in fact.members if one.owned]
    assert sorted(claims) == [("ship-upgrade", generation) for generation in (7, 8, 9, 10, 10, 11, 11, 12, 12)]
    assert raw[0].members[0].owned == ()


def test_commits_are_read_in_all_forms(
    sample: Callable[[str], bytes], segment: Callable[..., Facts], read: Callable[..., Facts]
) -> None:
    name = "4.3.1/segment-__consumer_offsets-0.log"
    raw = [fact for fact in segment(sample(name), name) if isinstance(fact, OffsetRecorded)]
    assert [(fact.group, fact.partition, fact.offset) for fact in raw] == [
        ("orders-churn", "t-orders-churn-0", 0),
        ("orders-churn", "t-orders-churn-1", 0),
    ]
    console = read(read_console, "4.3.1/console-offsets.dump")
    assert without_places(console) == [replace(fact, place=NOWHERE, time_ms=1795875087243) for fact in raw]
    for form in ("", "-json"):
        old = read(read_console, f"3.9.2/console-offsets{form}.dump")
        assert [(type(fact), fact.offset, fact.time_ms is None) for fact in old] == [(OffsetRecorded, 0, False)] * 2


def test_the_epochs_of_a_new_group_are_seen(sample: Callable[[str], bytes], segment: Callable[..., Facts]) -> None:
    name = "4.3.1/segment-__consumer_offsets-0.log"
    modern = [fact for fact in segment(sample(name), name) if isinstance(fact, ModernGroupSeen)]
    assert {(fact.group, fact.kind) for fact in modern} == {("geo-848", "consumer")}
    assert [fact.epoch for fact in modern if fact.epoch is not None] == [2, 3, 4, 5, 6, 7]
