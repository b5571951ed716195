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


class Bench:
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
def bench() -> Bench:
    return Bench()


@pytest.fixture
def stable() -> Bench:
    """One member, Stable in generation 1; what led there is forgotten."""
    bench = Bench()
    bench.join("a")
    bench.sync("a", 1)
    bench.events.clear()
    return bench


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


def test_empty_to_preparing_to_completing__with_the_first_member(bench: Bench) -> None:
    bench.join("a")
    assert bench.moves() == [(EMPTY, PREPARING), (PREPARING, COMPLETING)]


def test_completing_to_stable__with_the_leaders_sync(bench: Bench) -> None:
    bench.join("a")
    bench.events.clear()
    bench.sync("a", 1)
    assert bench.moves() == [(COMPLETING, STABLE)]


def test_completing_to_preparing__with_other_metadata(bench: Bench) -> None:
    bench.join("a")
    bench.events.clear()
    bench.join("a", known=True, metadata=b"n")
    assert bench.moves() == [(COMPLETING, PREPARING), (PREPARING, COMPLETING)]


def test_stable_to_preparing__with_a_new_member(stable: Bench) -> None:
    stable.join("b")
    assert stable.moves() == [(STABLE, PREPARING)]


def test_stable_to_preparing_to_empty__with_the_last_member(stable: Bench) -> None:
    stable.leave("a")
    assert stable.moves() == [(STABLE, PREPARING), (PREPARING, EMPTY)]


def test_stable_to_dead__when_another_coordinator_takes_over(stable: Bench) -> None:
    stable.coordinator.unload(stable.now)
    assert stable.moves() == [(STABLE, DEAD)]


# ------------------------------------------------------------------------------------------------ who and why


def test_a_member_that_enters_is_observed(bench: Bench) -> None:
    bench.join("a")
    assert [event.member_id for event in bench.of(MemberAdded) if isinstance(event, MemberAdded)] == ["a"]


def test_a_removal_tells_its_reason__left(stable: Bench) -> None:
    stable.leave("a")
    assert stable.removals() == [("a", "left")]


def test_a_removal_tells_its_reason__session_expired(stable: Bench) -> None:
    stable.advance(6_000)
    assert stable.removals() == [("a", "session expired")]


def test_a_removal_tells_its_reason__rebalance_timeout() -> None:
    bench = Bench(max_session_timeout_ms=1_800_000)
    bench.join("a")
    bench.sync("a", 1)
    bench.join("b")
    for _ in range(11):
        bench.advance(5_999)
        heartbeat_of_a(bench)
    assert bench.removals() == [("a", "rebalance timeout")]


def heartbeat_of_a(bench: Bench) -> None:
    """Keeps the session of a alive although it does not rejoin."""
    bench.coordinator.handle("hb", HeartbeatRequest(group_id="g", generation_id=1, member_id="a"), bench.now)


def test_a_removal_tells_its_reason__sync_timeout(bench: Bench) -> None:
    bench.join("a")
    for _ in range(11):
        heartbeat_of_a(bench)
        bench.advance(5_500)
    assert bench.removals() == [("a", "sync timeout")]


def test_a_removal_tells_its_reason__replaced(bench: Bench) -> None:
    bench.join("a", instance="i")
    bench.sync("i", 1)
    bench.events.clear()
    bench.join("b", instance="i")
    assert bench.removals() == [("i", "replaced")]


def test_a_removal_tells_its_reason__group_size() -> None:
    bench = Bench(max_size=2)
    bench.join("a")
    bench.join("b")
    bench.join("a", known=True)
    bench.sync("a", 2)
    bench.join("a", known=True, metadata=b"n")
    bench.join("c", instance="c")
    bench.join("b", known=True)
    assert bench.removals() == [("b", "group size")]


def test_a_generation_tells_members_leader_and_protocol(bench: Bench) -> None:
    bench.join("a")
    (started,) = bench.of(GenerationStarted)
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


def test_a_committed_record_tells_its_generation_members_and_offset(stable: Bench) -> None:
    stable.leave("a")
    (appended,) = [event for event in stable.of(GroupMetadataAppended) if isinstance(event, GroupMetadataAppended)]
    assert (appended.generation, appended.members, appended.offset) == (2, (), 2)


def test_each_start_of_a_group_is_an_incarnation(stable: Bench) -> None:
    stable.leave("a")
    stable.coordinator.delete("g")
    stable.join("a")
    incarnations = [event for event in stable.of(IncarnationStarted) if isinstance(event, IncarnationStarted)]
    assert [(incarnation.incarnation, incarnation.generation) for incarnation in incarnations] == [(1, 0)]
    stable.coordinator.unload(stable.now)
    stable.coordinator.load(stable.coordinator.log.records, stable.now)  # type: ignore[attr-defined]  # the default log
    assert [event.incarnation for event in stable.of(IncarnationStarted) if isinstance(event, IncarnationStarted)] == [
        1,
        2,
    ]


def test_events_are_numbered_without_a_gap(bench: Bench) -> None:
    bench.join("a")
    bench.sync("a", 1)
    bench.leave("a")
    assert [event.seq for event in bench.events] == list(range(len(bench.events)))


def test_nobody_listening_changes_no_answer() -> None:
    listened = Bench()
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
