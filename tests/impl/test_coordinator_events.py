"""What the coordinator tells: every transition of a group by name, who came and went and why, and what was written."""

from typing import Any

import pytest

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.status import LEGAL_PREDECESSORS, IllegalTransition, assert_legal
from rebalance_check.impl.protocol.messages import (
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncAssignment,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupMetadataAppended,
    GroupStatusChanged,
    IncarnationStarted,
    MemberAdded,
    MemberRemoved,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus

EMPTY, PREPARING, COMPLETING, STABLE, DEAD = GroupStatus


class Room:
    """A coordinator whose events are kept; members join by name, at once, and their ids are their names."""

    def __init__(self, **settings: Any) -> None:
        self.events: list[Event] = []
        self.now = 0
        self.coordinator = GroupCoordinator(
            GroupConfig(initial_rebalance_delay_ms=0, **settings),
            new_member_id=lambda prefix: prefix,
            recorder_for=lambda group: Recorder(group, "coordinator", lambda: self.now, self.events.append),
        )

    def join(self, name: str, *, known: bool = False, metadata: bytes = b"m", instance: str | None = None) -> None:
        request = JoinGroupRequest(
            group_id="g",
            version=3 if instance is None else 9,
            client_id=name,
            session_timeout_ms=6_000,
            rebalance_timeout_ms=60_000,
            member_id=name if known else "",
            group_instance_id=instance,
            protocol_type="consumer",
            protocols=(JoinProtocol("range", metadata),),
        )
        self.coordinator.handle(name, request, self.now)

    def sync(self, name: str, generation: int) -> None:
        request = SyncGroupRequest(
            group_id="g",
            version=3,
            generation_id=generation,
            member_id=name,
            assignments=(SyncAssignment(name, b"A"),),
        )
        self.coordinator.handle(name, request, self.now)

    def leave(self, name: str) -> None:
        request = LeaveGroupRequest(group_id="g", members=(MemberIdentity(name),))
        self.coordinator.handle(name, request, self.now)

    def advance(self, duration_ms: int) -> None:
        self.now += duration_ms
        self.coordinator.advance(self.now)

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    def moves(self) -> list[tuple[str, str]]:
        changes = [event for event in self.events if isinstance(event, GroupStatusChanged)]
        return [(change.from_status, change.to_status) for change in changes]

    def removals(self) -> list[tuple[str, str]]:
        return [(event.member_id, event.reason) for event in self.events if isinstance(event, MemberRemoved)]


@pytest.fixture
def room() -> Room:
    return Room()


@pytest.fixture
def stable() -> Room:
    """One member, Stable in generation 1; what led there is forgotten."""
    room = Room()
    room.join("a")
    room.sync("a", 1)
    room.events.clear()
    return room


# ------------------------------------------------------------------------------------------------ from - to


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


def test_empty_to_preparing_to_completing__with_the_first_member(room: Room) -> None:
    room.join("a")
    assert room.moves() == [(EMPTY, PREPARING), (PREPARING, COMPLETING)]


def test_completing_to_stable__with_the_leaders_sync(room: Room) -> None:
    room.join("a")
    room.events.clear()
    room.sync("a", 1)
    assert room.moves() == [(COMPLETING, STABLE)]


def test_completing_to_preparing__with_other_metadata(room: Room) -> None:
    room.join("a")
    room.events.clear()
    room.join("a", known=True, metadata=b"n")
    assert room.moves() == [(COMPLETING, PREPARING), (PREPARING, COMPLETING)]


def test_stable_to_preparing__with_a_new_member(stable: Room) -> None:
    stable.join("b")
    assert stable.moves() == [(STABLE, PREPARING)]


def test_stable_to_preparing_to_empty__with_the_last_member(stable: Room) -> None:
    stable.leave("a")
    assert stable.moves() == [(STABLE, PREPARING), (PREPARING, EMPTY)]


def test_stable_to_dead__when_another_coordinator_takes_over(stable: Room) -> None:
    stable.coordinator.unload(stable.now)
    assert stable.moves() == [(STABLE, DEAD)]


# ------------------------------------------------------------------------------------------------ who and why


def test_a_member_is_told_when_it_enters(room: Room) -> None:
    room.join("a")
    assert [event.member_id for event in room.of(MemberAdded) if isinstance(event, MemberAdded)] == ["a"]


def test_a_removal_tells_its_reason__left(stable: Room) -> None:
    stable.leave("a")
    assert stable.removals() == [("a", "left")]


def test_a_removal_tells_its_reason__session_expired(stable: Room) -> None:
    stable.advance(6_000)
    assert stable.removals() == [("a", "session expired")]


def test_a_removal_tells_its_reason__rebalance_timeout() -> None:
    room = Room(max_session_timeout_ms=1_800_000)
    room.join("a")
    room.sync("a", 1)
    room.join("b")
    for _ in range(11):
        room.advance(5_999)
        heartbeat_of_a(room)
    assert room.removals() == [("a", "rebalance timeout")]


def heartbeat_of_a(room: Room) -> None:
    """Keeps the session of a alive although it does not rejoin."""
    room.coordinator.handle("hb", HeartbeatRequest(group_id="g", generation_id=1, member_id="a"), room.now)


def test_a_removal_tells_its_reason__sync_timeout(room: Room) -> None:
    room.join("a")
    for _ in range(11):
        heartbeat_of_a(room)
        room.advance(5_500)
    assert room.removals() == [("a", "sync timeout")]


def test_a_removal_tells_its_reason__replaced(room: Room) -> None:
    room.join("a", instance="i")
    room.sync("i", 1)
    room.events.clear()
    room.join("b", instance="i")
    assert room.removals() == [("i", "replaced")]


def test_a_removal_tells_its_reason__group_size() -> None:
    room = Room(max_size=2)
    room.join("a")
    room.join("b")
    room.join("a", known=True)
    room.sync("a", 2)
    room.join("a", known=True, metadata=b"n")
    room.join("c", instance="c")
    room.join("b", known=True)
    assert room.removals() == [("b", "group size")]


def test_a_generation_tells_members_leader_and_protocol(room: Room) -> None:
    room.join("a")
    (started,) = room.of(GenerationStarted)
    assert started == GenerationStarted(
        group="g",
        source="coordinator",
        seq=started.seq,
        incarnation=0,
        generation=1,
        members=("a",),
        leader="a",
        protocol="range",
    )


def test_a_committed_record_tells_its_generation_members_and_offset(stable: Room) -> None:
    stable.leave("a")
    (appended,) = [event for event in stable.of(GroupMetadataAppended) if isinstance(event, GroupMetadataAppended)]
    assert (appended.generation, appended.members, appended.offset) == (2, (), 2)


def test_each_life_of_a_group_is_an_incarnation(stable: Room) -> None:
    stable.leave("a")
    stable.coordinator.delete("g")
    stable.join("a")
    lives = [event for event in stable.of(IncarnationStarted) if isinstance(event, IncarnationStarted)]
    assert [(life.incarnation, life.generation) for life in lives] == [(1, 0)]
    stable.coordinator.unload(stable.now)
    stable.coordinator.load(stable.coordinator.log.records, stable.now)  # type: ignore[attr-defined]  # the default log
    assert [event.incarnation for event in stable.of(IncarnationStarted) if isinstance(event, IncarnationStarted)] == [
        1,
        2,
    ]


def test_events_are_numbered_without_a_gap(room: Room) -> None:
    room.join("a")
    room.sync("a", 1)
    room.leave("a")
    assert [event.seq for event in room.events] == list(range(len(room.events)))


def test_nobody_listening_changes_no_answer() -> None:
    listened = Room()
    silent = GroupCoordinator(GroupConfig(initial_rebalance_delay_ms=0), new_member_id=lambda prefix: prefix)
    listened.join("a")
    request = JoinGroupRequest(
        group_id="g",
        version=3,
        client_id="a",
        session_timeout_ms=6_000,
        rebalance_timeout_ms=60_000,
        member_id="",
        protocol_type="consumer",
        protocols=(JoinProtocol("range", b"m"),),
    )
    ((token, reply),) = silent.handle("a", request, 0)
    assert (token, isinstance(reply, JoinGroupReply)) == ("a", True)
    assert silent.describe("g") == listened.coordinator.describe("g")
