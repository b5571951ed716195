"""The tables of kafka-consumer-groups and kafka-groups, of 1.x to 4.x."""

from collections.abc import Callable
from typing import Any

import pytest

from rebalance_check.pipeline.diagnose.dumps.describe import is_describe, read_describe
from rebalance_check.pipeline.diagnose.facts import (
    AssignmentsHidden,
    GroupDescribed,
    MemberRowDescribed,
    ModernGroupSeen,
    NotUnderstood,
    PartitionDescribed,
    Place,
    ProtocolTypeSeen,
)

Read = Callable[..., list[Any]]


def at(number: int, group: str = "g", time_ms: int | None = None) -> dict[str, Any]:
    return {"place": Place("t", number), "time_ms": time_ms, "group": group}


def described(text: str, read: Read) -> list[Any]:
    return read(read_describe, "t", text)


# -------------------------------------------------------------------------------------------------------------- samples


@pytest.mark.parametrize("release", ["3.9.2", "4.3.1"])
def test_offsets_and_their_owners_are_read(release: str, read: Read) -> None:
    facts = read(read_describe, f"{release}/orders-churn-describe-offsets.table")
    assert [(fact.partition, fact.committed, fact.end, fact.client) for fact in facts] == [
        (f"t-orders-churn-{number}", None, 0, client) for number, client in ((0, "m1"), (1, "m1"), (3, "m3"), (2, "m2"))
    ]
    assert {type(fact) for fact in facts} == {PartitionDescribed}
    assert all(fact.member.startswith(fact.client + "-") for fact in facts)
    assert {fact.group for fact in facts} == {"orders-churn"}


@pytest.mark.parametrize(
    ("name", "partitions"),
    [
        # 3.9 leaves the topics out.
        ("3.9.2/orders-churn-describe-members.table", {"m3": None, "m1": None, "m2": None}),
        (
            "4.3.1/orders-churn-describe-members.table",
            {"m1": ("t-orders-churn-0", "t-orders-churn-1"), "m3": ("t-orders-churn-3",), "m2": ("t-orders-churn-2",)},
        ),
    ],
)
def test_members_are_read(name: str, partitions: dict[str, tuple[str, ...] | None], read: Read) -> None:
    facts = read(read_describe, name)
    assert [type(fact) for fact in facts] == [MemberRowDescribed] * 3
    assert {fact.client: fact.partitions for fact in facts} == partitions
    assert {fact.client: fact.count for fact in facts} == {"m1": 2, "m2": 1, "m3": 1}
    assert {fact.host for fact in facts} == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("3.9.2/orders-churn-describe-state.table", [("Stable", 3, "range")]),
        ("4.3.1/orders-churn-describe-state.table", [("Stable", 3, "range")]),
        ("3.9.2/orders-churn-describe-after.table", [("Empty", 0, ""), ("Empty", 0, "")]),
        ("4.3.1/orders-churn-describe-after.table", [("Empty", 0, ""), ("Empty", 0, "")]),
        ("4.3.1/geo-848-describe-state.table", [("Stable", 2, "uniform")]),
        ("3.9.2/list-state.table", [("Empty", None, "")] * 12),
        ("4.3.1/list-state.table", [("Empty", None, "")] * 13),
    ],
)
def test_states_are_read(name: str, facts: list[tuple[str, int | None, str]], read: Read) -> None:
    found = [fact for fact in read(read_describe, name) if isinstance(fact, GroupDescribed)]
    assert [(fact.state, fact.members, fact.assignor) for fact in found] == facts


@pytest.mark.parametrize(("release", "counts"), [("3.9.2", [None] * 3), ("4.3.1", [None, 2, 2])])
def test_a_group_that_rebalances_hides_its_assignments(release: str, counts: list[int | None], read: Read) -> None:
    facts = read(read_describe, f"{release}/bill-holdup-describe-preparing.table")
    assert [type(fact) for fact in facts] == [
        AssignmentsHidden, GroupDescribed, AssignmentsHidden, *[MemberRowDescribed] * 3,
    ]  # fmt: skip
    assert (facts[1].state, facts[1].members, facts[1].assignor) == ("PreparingRebalance", 3, "")
    assert [fact.count for fact in facts[3:]] == counts
    assert [fact.partitions is None for fact in facts[3:]] == [count is None for count in counts]


def test_a_new_group_is_seen_in_both_tables(read: Read) -> None:
    *members, _ = found = read(read_describe, "4.3.1/geo-848-describe-members.table")
    assert [type(fact) for fact in found] == [MemberRowDescribed, ModernGroupSeen, MemberRowDescribed]
    assert members[0].partitions == ("t-geo-848-3", "t-geo-848-4", "t-geo-848-5")
    _, state = read(read_describe, "4.3.1/geo-848-describe-state.table")
    assert (type(state), state.group, state.kind, state.epoch) == (ModernGroupSeen, "geo-848", "consumer", 3)


def test_a_connect_group_is_refused_with_its_type(read: Read) -> None:
    assert read(read_describe, "connect-3.9.2/describe-members.table") == [
        ProtocolTypeSeen(
            place=Place("connect-3.9.2/describe-members.table", 1), time_ms=None, group="pipes", protocol_type="connect"
        )
    ]


def test_a_warning_behind_the_table_is_read_too(read: Read) -> None:
    partition, hidden = read(read_describe, "field/describe.table")
    assert (partition.partition, partition.committed, partition.end, partition.member) == ("t-0", 100, 250, None)
    assert (type(hidden), hidden.group) == (AssignmentsHidden, "g1")


# ---------------------------------------------------------------------------------------------------------- other forms

OLD_OFFSETS = """
TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG   CONSUMER-ID            HOST            CLIENT-ID
storage-events  0          22922           22925           3     consumer-1-1cbaa664    /10.42.2.77     consumer 1
-               -          -               -               -     consumer-4-b91ee930    /10.42.1.68     consumer-4
"""
VERBOSE = """
GROUP  TOPIC  PARTITION  LEADER-EPOCH  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID
g      t      3          0             17              20              3    -            -     -
"""
STATIC = """
GROUP   CONSUMER-ID   GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT
g       m1-7ab        inst 1            /10.0.0.1       m1              3               a.b(0,2), c(1)
g       m2-8cd                          /10.0.0.2       m2              0               -
"""
SQUEEZED = """
GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS
g k1:9092 (1) cooperative-sticky CompletingRebalance 3
g k1:9092 (1) PreparingRebalance 3
"""
TYPES = """
GROUP                     TYPE                 STATE
g                         Share                Stable
"""
ALL_GROUPS = """
GROUP            TYPE                     PROTOCOL
g                Classic                  connect
g                Streams                  streams
"""


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            OLD_OFFSETS,
            [
                PartitionDescribed(**at(3, ""), partition="storage-events-0", committed=22922, end=22925,
                                   member="consumer-1-1cbaa664", client="consumer 1"),
                MemberRowDescribed(**at(4, ""), member="consumer-4-b91ee930", client="consumer-4", host="10.42.1.68",
                                   count=0, partitions=()),
            ],
        ),
        (VERBOSE, [PartitionDescribed(**at(3), partition="t-3", committed=17, end=20, member=None)]),
        (
            STATIC,
            [
                MemberRowDescribed(**at(3), member="m1-7ab", instance="inst 1", client="m1", host="10.0.0.1", count=3,
                                   partitions=("a.b-0", "a.b-2", "c-1")),
                MemberRowDescribed(**at(4), member="m2-8cd", client="m2", host="10.0.0.2", count=0, partitions=()),
            ],
        ),
        (
            SQUEEZED,
            [
                GroupDescribed(**at(3), state="CompletingRebalance", members=3, assignor="cooperative-sticky"),
                GroupDescribed(**at(4), state="PreparingRebalance", members=3),
            ],
        ),
        (TYPES, [GroupDescribed(**at(3), state="Stable"), ModernGroupSeen(**at(3), kind="share")]),
        (ALL_GROUPS, [ProtocolTypeSeen(**at(3), protocol_type="connect"), ModernGroupSeen(**at(4), kind="streams")]),
        ("Error: Consumer group 'a b' does not exist.", [GroupDescribed(**at(1, "a b"), state="Dead")]),
        (
            "Error: Executing consumer group command failed due to org.apache.kafka.common.errors."
            "GroupIdNotFoundException: Group a not found.",
            [GroupDescribed(**at(1, "a"), state="Dead")],
        ),
    ],
)  # fmt: skip
def test_tables_of_other_releases_and_tools(text: str, facts: list[Any], read: Read) -> None:
    assert described(text, read) == facts
    assert is_describe(text)


@pytest.mark.parametrize("text", [OLD_OFFSETS, VERBOSE, STATIC])
def test_a_table_may_be_indented(text: str, read: Read) -> None:
    assert described(text.replace("\n", "\n    "), read) == described(text, read) != []


def test_spaces_that_a_tool_took_away_are_not_missed(read: Read) -> None:
    name = "4.3.1/orders-churn-describe-offsets.table"
    whole = read(read_describe, name)
    text = "\n".join(" ".join(line.split()) for line in (f"{fact.place.text}" for fact in whole))
    header = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
    squeezed = described(f"{header}\n{text}", read)
    assert [(fact.partition, fact.member, fact.client) for fact in squeezed] == [
        (fact.partition, fact.member, fact.client) for fact in whole
    ]
    assert len(squeezed) == 4


HIDDEN = """
Warning: Consumer group 'g' is rebalancing.
GROUP  TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID
g      -      -          -               -               -    m1-7ab       /h    m1
other  -      -          -               -               -    m2-8cd       /h    m2
"""


def test_a_warning_is_of_its_group_and_of_the_next_table(read: Read) -> None:
    table = "\n".join(HIDDEN.strip().split("\n")[1:])
    hidden, *facts = described(f"{HIDDEN}\n{table}", read)
    assert (type(hidden), hidden.group) == (AssignmentsHidden, "g")
    assert [(fact.group, fact.count, fact.partitions) for fact in facts] == [
        ("g", None, None), ("other", 0, ()), ("g", 0, ()), ("other", 0, ()),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "time_ms", "zoned"),
    [
        ("Sat Nov 28 14:10:21 UTC 2026", 1795875021000, True),
        ("Sat Nov 28 02:10:21 PM CET 2026", 1795875021000, False),
        ("Sat 28 Nov 2026 02:10:21 PM UTC", 1795875021000, True),
        ("Sat, 28 Nov 2026 15:10:21 +0100", 1795875021000, True),
        ("2026-11-28T14:10:21+00:00", 1795875021000, True),
        ("2026-11-28 14:10:21", 1795875021000, False),
        ("1795875021", 1795875021000, True),
        ("Every 2.0s: kafka-consumer-groups.sh --describe  h: Sat Nov 28 14:10:21 2026", 1795875021000, False),
        ("at Sat Nov 28 14:10:21 UTC 2026", None, True),
        ("Sat Nov 31 25:10:21 UTC 2026", None, True),
        ("14:10:21", None, True),
    ],
)
def test_a_line_of_date_gives_the_time_of_the_tables_behind_it(
    line: str, time_ms: int | None, zoned: bool, read: Read
) -> None:
    first, second = described(f"{VERBOSE}\n{line}\n{VERBOSE}", read)
    assert (first.time_ms, second.time_ms, second.place.zoned) == (None, time_ms, zoned)


@pytest.mark.parametrize(
    ("line", "notes"),
    [
        ("g      t      three      0   1  2  3  -  -  -", 1),
        ("$ kafka-consumer-groups.sh --describe --group g", 0),
        ("\tat kafka.admin.ConsumerGroupCommand$.main(ConsumerGroupCommand.scala:75)", 0),
        ("", 0),
        ("\nsome words of a ticket", 0),
    ],
)
def test_only_lines_of_a_table_are_noted(line: str, notes: int, read: Read) -> None:
    facts = described(f"{VERBOSE.rstrip()}\n{line}", read)
    assert [type(fact) for fact in facts] == [PartitionDescribed] + notes * [NotUnderstood]


def test_tables_are_recognised(sample: Callable[[str], bytes]) -> None:
    for name in ("3.9.2/list-state.table", "connect-3.9.2/describe-members.table", "field/describe.table"):
        assert is_describe(sample(name).decode())
    others = (
        "3.9.2/dumplog-__consumer_offsets-0.dump",
        "3.9.2/console-offsets.dump",
        "connect-3.9.2/rest-status.jsonl",
    )
    for name in others:
        assert not is_describe(sample(name).decode())
    assert not is_describe("[2026-11-28 14:10:04,343] INFO STATE GROUP of the HOST (x)")
