"""The decision tables of the coordinator, row by row: write errors, phases of the coordinator, protocol versions."""

import pytest

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.coordinator.logs import SteeredLog
from rebalance_check.impl.protocol.messages import (
    CommittedOffset,
    GroupReply,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    OffsetCommitReply,
    OffsetCommitRequest,
    OffsetFetchReply,
    OffsetFetchRequest,
    SyncAssignment,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.model.vocabulary.errors import Error


def join(member_id: str, version: int = 3, instance: str | None = None, protocols: str = "range") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        version=version,
        client_id="a",
        session_timeout_ms=6_000,
        rebalance_timeout_ms=60_000,
        member_id=member_id,
        group_instance_id=instance,
        protocol_type="consumer",
        protocols=tuple(JoinProtocol(name, b"m") for name in protocols.split()),
    )


def sync(member_id: str, generation: int = 1) -> SyncGroupRequest:
    assignments = (SyncAssignment(member_id, b"A"),)
    return SyncGroupRequest(
        group_id="g", version=3, generation_id=generation, member_id=member_id, assignments=assignments
    )


def commit(member_id: str) -> OffsetCommitRequest:
    offsets = (CommittedOffset("t", 0, 5),)
    return OffsetCommitRequest(group_id="g", version=7, generation_id=1, member_id=member_id, offsets=offsets)


HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="a")
LEAVE = LeaveGroupRequest(group_id="g", members=(MemberIdentity("a"),))
FETCH = OffsetFetchRequest(group_id="g", partitions=(("t", 0),), require_stable=True)


class Desk:
    """A coordinator on a log that can be steered; new member ids are a, b, c."""

    def __init__(self) -> None:
        ids = iter("abc")
        self.log = SteeredLog()
        config = GroupConfig(initial_rebalance_delay_ms=0)
        self.coordinator = GroupCoordinator(config, new_member_id=lambda _: next(ids), log=self.log)

    def ask(self, request: GroupRequest) -> GroupReply:
        ((_, reply),) = self.coordinator.handle("me", request, 0)
        return reply


@pytest.fixture
def desk() -> Desk:
    """One member, ``a``, Stable in generation 1; the group is led by it."""
    desk = Desk()
    desk.ask(join(""))
    desk.ask(sync("a"))
    return desk


WRITE_ERRORS = [
    ("UNKNOWN_TOPIC_OR_PARTITION", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_NOT_AVAILABLE"),
    ("NOT_ENOUGH_REPLICAS", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_NOT_AVAILABLE"),
    ("REQUEST_TIMED_OUT", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_NOT_AVAILABLE"),
    ("NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
    ("NOT_LEADER_OR_FOLLOWER", "NOT_COORDINATOR", "NOT_COORDINATOR"),
    ("KAFKA_STORAGE_ERROR", "NOT_COORDINATOR", "NOT_COORDINATOR"),
    ("MESSAGE_TOO_LARGE", "UNKNOWN_SERVER_ERROR", "UNKNOWN_SERVER_ERROR"),
    ("RECORD_LIST_TOO_LARGE", "UNKNOWN_SERVER_ERROR", "UNKNOWN_SERVER_ERROR"),
    ("INVALID_FETCH_SIZE", "UNKNOWN_SERVER_ERROR", "UNKNOWN_SERVER_ERROR"),
    ("NETWORK_EXCEPTION", "NETWORK_EXCEPTION", "COORDINATOR_LOAD_IN_PROGRESS"),
    ("CORRUPT_MESSAGE", "CORRUPT_MESSAGE", "CORRUPT_MESSAGE"),
]
"""The error of a write, the error that a SyncGroup or JoinGroup is answered, and that of an OffsetCommit."""


@pytest.mark.parametrize(("write", "answered", "_"), WRITE_ERRORS)
def test_a_failed_assignment_is_reported_to_the_leader__and_the_group_rebalances(
    write: str, answered: str, _: str
) -> None:
    desk = Desk()
    desk.ask(join(""))
    desk.log.failure = Error[write]
    assert desk.ask(sync("a")).error.name == answered
    assert desk.coordinator.describe("g").state == "PreparingRebalance"


@pytest.mark.parametrize(("write", "_", "answered"), WRITE_ERRORS)
def test_a_failed_commit_is_reported__and_nothing_is_committed(desk: Desk, write: str, _: str, answered: str) -> None:
    desk.log.failure = Error[write]
    reply = desk.ask(commit("a"))
    assert isinstance(reply, OffsetCommitReply)
    assert [error.name for _, _, error in reply.partitions] == [answered]
    desk.log.failure = Error.NONE
    assert desk.ask(FETCH) == OffsetFetchReply(offsets=(CommittedOffset("t", 0, -1),))


@pytest.mark.parametrize(("write", "answered", "_"), WRITE_ERRORS)
def test_a_failed_static_replacement_is_reported__and_undone(write: str, answered: str, _: str) -> None:
    desk = Desk()
    desk.ask(join("", 9, "i"))
    desk.ask(sync("a"))
    desk.log.failure = Error[write]
    reply = desk.ask(join("", 9, "i"))
    assert isinstance(reply, JoinGroupReply)
    assert (reply.error.name, reply.member_id) == (answered, "")
    assert [member.member_id for member in desk.coordinator.describe("g").members] == ["a"]


EVERY_API = [join("a"), sync("a"), HEARTBEAT, LEAVE, commit("a"), FETCH]


@pytest.mark.parametrize("request_", EVERY_API, ids=lambda request: type(request).__name__)
def test_a_coordinator_that_stopped_serving_says_so(desk: Desk, request_: GroupRequest) -> None:
    desk.coordinator.unload(0)
    assert desk.ask(request_).error is Error.NOT_COORDINATOR


@pytest.mark.parametrize("request_", EVERY_API, ids=lambda request: type(request).__name__)
def test_a_coordinator_that_is_loading_says_so__but_believes_heartbeats(desk: Desk, request_: GroupRequest) -> None:
    desk.coordinator.start_loading()
    expected = Error.NONE if request_ is HEARTBEAT else Error.COORDINATOR_LOAD_IN_PROGRESS
    assert desk.ask(request_).error is expected


def test_describe_and_delete_are_refused__while_the_coordinator_does_not_serve(desk: Desk) -> None:
    desk.coordinator.start_loading()
    assert desk.coordinator.describe("g").error is Error.COORDINATOR_LOAD_IN_PROGRESS
    assert desk.coordinator.delete("g") is Error.COORDINATOR_LOAD_IN_PROGRESS
    desk.coordinator.unload(0)
    assert desk.coordinator.describe("g").error is Error.NOT_COORDINATOR
    assert desk.coordinator.delete("g") is Error.NOT_COORDINATOR


@pytest.mark.parametrize(("version", "error"), [(0, "NONE"), (5, "NONE"), (6, "GROUP_ID_NOT_FOUND")])
def test_an_absent_group_is_dead__and_an_error_from_v6_on(desk: Desk, version: int, error: str) -> None:
    described = desk.coordinator.describe("absent", version)
    assert (described.error.name, described.state) == (error, "Dead")


VOTES = [
    (("range rr", "rr range", "rr range"), "rr"),
    (("x range rr", "x rr range", "rr range"), "rr"),
    (("range rr", "rr range"), "rr"),
    (("range roundrobin", "roundrobin range"), "range"),
    (("range sticky", "sticky range"), "sticky"),
    (("cooperative-sticky range", "range cooperative-sticky"), "range"),
    (("Aa BB", "BB Aa"), "Aa"),  # in one bucket: the vote of the first member in hash order, a
]
"""The list of each member, most preferred first, and the winner: a tie goes to the first in a hash map of Java.
`join.scenario` shows it on Kafka."""


@pytest.mark.parametrize(("lists", "winner"), VOTES)
def test_the_protocol_with_most_votes_wins__of_those_that_all_list(lists: tuple[str, ...], winner: str) -> None:
    ids = iter("abc")
    coordinator = GroupCoordinator(GroupConfig(initial_rebalance_delay_ms=100), new_member_id=lambda _: next(ids))
    for number, protocols in enumerate(lists):
        coordinator.handle(number, join("", protocols=protocols), 0)
    replies = [reply for _, reply in coordinator.advance(1_000)]
    assert {reply.protocol_name for reply in replies if isinstance(reply, JoinGroupReply)} == {winner}


def test_a_stable_reply_carries_protocol_and_assignment__an_error_neither(desk: Desk) -> None:
    good, bad = desk.ask(sync("a")), desk.ask(sync("a", 7))
    assert good == SyncGroupReply(protocol_type="consumer", protocol_name="range", assignment=b"A")
    assert bad == SyncGroupReply(error=Error.ILLEGAL_GENERATION)


def test_a_pending_id_that_is_refused_for_size_is_no_longer_waited_for() -> None:
    """Nor does the refusal itself look whether all have joined: the next JoinGroup does."""
    ids = iter("abc")
    coordinator = GroupCoordinator(
        GroupConfig(initial_rebalance_delay_ms=0, max_size=2), new_member_id=lambda _: next(ids)
    )
    for member_id in ("", "a"):
        coordinator.handle("a", join(member_id, 9), 0)
    coordinator.handle("a", sync("a"), 0)
    for _ in "bc":
        coordinator.handle("new", join("", 9), 0)
    assert coordinator.handle("b", join("b", 9), 0) == []
    assert coordinator.handle("a", join("a", 9), 0) == []
    ((token, refused),) = coordinator.handle("c", join("c", 9), 0)
    assert (token, refused.error) == ("c", Error.GROUP_MAX_SIZE_REACHED)
    joined = coordinator.handle("b", join("b", 9), 0)
    assert {(token, reply.error) for token, reply in joined} == {("a", Error.NONE), ("b", Error.NONE)}
