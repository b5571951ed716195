"""The moves of a group are those of Kafka; who left, why, and the members of a generation are recorded."""

import pytest

from rebalance_check.impl.coordinator.status import LEGAL_PREDECESSORS, IllegalTransition, assert_legal
from rebalance_check.impl.scenarios import history_of
from rebalance_check.model.vocabulary.events import GenerationStarted, MemberRemoved
from rebalance_check.model.vocabulary.group_status import GroupStatus

EMPTY, PREPARING, COMPLETING, STABLE, DEAD = GroupStatus


@pytest.mark.parametrize("target", GroupStatus)
@pytest.mark.parametrize("current", GroupStatus)
def test_a_move_is_legal_exactly_where_kafka_allows_it(current: GroupStatus, target: GroupStatus) -> None:
    legal = {
        (PREPARING, EMPTY),
        (EMPTY, PREPARING),
        (COMPLETING, PREPARING),
        (STABLE, PREPARING),
        (PREPARING, COMPLETING),
        (COMPLETING, STABLE),
        *((each, DEAD) for each in GroupStatus),
    }
    assert (current in LEGAL_PREDECESSORS[target]) == ((current, target) in legal)
    if (current, target) not in legal:
        with pytest.raises(IllegalTransition, match=f"from {current} to {target}"):
            assert_legal("g", current, target)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["form a session=60000 rebalance=10000", "admit b session=60000 rebalance=10000", "advance 10001"],
         "rebalance timeout"),
        (["form a unsynced=yes session=60000 rebalance=10000", "advance 20000"], "sync timeout"),
        (["form a static=a:i", "join c instance=i"], "replaced"),
        (["form a", "leave a"], "left"),
        (["form a", "advance 10001"], "session expired"),
    ],
)  # fmt: skip
def test_a_removal_says_its_reason(lines: list[str], reason: str) -> None:
    assert [event.reason for event in history_of(lines) if isinstance(event, MemberRemoved)] == [reason]


def test_a_generation_says_its_members_leader_and_protocol() -> None:
    (started,) = [event for event in history_of(["form a b"]) if isinstance(event, GenerationStarted)]
    assert (started.members, started.leader, started.protocol) == (("py-1", "py-2"), "py-1", "range")
    assert (started.incarnation, started.generation, started.source) == (0, 1, "coordinator")
