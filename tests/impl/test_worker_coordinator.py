"""A Connect worker's coordinator, one statement at a time: negotiation, claims, rejoining, revocation, leaving."""

from __future__ import annotations

import pytest

from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.connect.worker.config import WorkerConfig
from rebalance_check.impl.protocol.connect_protocol import (
    EMPTY,
    ConnectAssignment,
    ConnectMode,
    read_worker_state,
    read_worker_state_v0,
)
from rebalance_check.impl.protocol.messages import (
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from tests.impl.scripted_worker import URL, Configs, ScriptedWorker, work

EAGER, COMPATIBLE, SESSIONED = ConnectMode

UNKNOWN_MEMBER = JoinGroupReply(error=Error.UNKNOWN_MEMBER_ID)


@pytest.fixture
def worker() -> ScriptedWorker:
    return ScriptedWorker()


# ---------------------------------------------------------------------------------------------------- negotiation


def test_the_defaults_are_those_of_connect() -> None:
    config = WorkerConfig(group_id="g")
    assert (config.session_timeout_ms, config.heartbeat_interval_ms, config.rebalance_timeout_ms) == (
        10_000,
        3_000,
        60_000,
    )
    assert (config.connect_protocol, config.scheduled_rebalance_max_delay_ms) == (SESSIONED, 300_000)
    assert (config.worker_sync_timeout_ms, config.worker_unsync_backoff_ms) == (3_000, 300_000)
    assert config.task_shutdown_graceful_timeout_ms == 5_000
    assert config.leave_on_close


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        (EAGER, ["default"]),
        (COMPATIBLE, ["compatible", "default"]),
        (SESSIONED, ["sessioned", "compatible", "default"]),
    ],
    ids=["eager", "compatible", "sessioned"],
)
def test_a_mode_offers_itself_and_every_older_one(mode: ConnectMode, names: list[str]) -> None:
    worker = ScriptedWorker(mode, Configs(offset=7))
    request = worker.rejoins()
    assert (request.protocol_type, [offer.name for offer in request.protocols]) == ("connect", names)
    for offer in request.protocols:
        state = read_worker_state(offer.metadata)
        assert (state.url, state.config_offset, state.allocation) == (URL, 7, EMPTY)
        assert int.from_bytes(offer.metadata[:2], "big") == ConnectMode.of_protocol(offer.name).version
    assert read_worker_state_v0(request.protocols[-1].metadata).config_offset == 7


def test_a_static_worker_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="never static"):
        WorkerConfig(group_id="g", group_instance_id="i")


def test_settings_name_a_mode_in_any_case_and_protocols_in_one() -> None:
    assert ConnectMode.parse("Sessioned") is SESSIONED
    with pytest.raises(RebalanceCheckError, match=r"connect\.protocol is 'static'"):
        ConnectMode.parse("static")
    with pytest.raises(RebalanceCheckError, match="none of Connect's"):
        ConnectMode.of_protocol("eager")


def test_a_group_without_a_common_protocol_is_fatal(worker: ScriptedWorker) -> None:
    worker.poll()
    worker.answer(JoinGroupRequest, JoinGroupReply(error=Error.INCONSISTENT_GROUP_PROTOCOL))
    with pytest.raises(GroupError, match="INCONSISTENT_GROUP_PROTOCOL"):
        worker.poll()


def test_the_mode_is_the_configured_one_until_a_round_completes(worker: ScriptedWorker) -> None:
    assert worker.coordinator.mode is SESSIONED
    worker.joined(1, COMPATIBLE)
    assert worker.coordinator.mode is SESSIONED
    worker.synced(work("c0"), COMPATIBLE)
    assert worker.coordinator.mode is COMPATIBLE


# ---------------------------------------------------------------------------------------------------- rejoining


def test_a_new_worker_joins_at_its_first_poll(worker: ScriptedWorker) -> None:
    assert worker.coordinator.rejoin_needed_or_pending()
    assert worker.rejoins().member_id == ""


def test_a_rejoin_request_is_local_and_gives_no_reason(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.coordinator.request_rejoin("connectors were reconfigured")
    assert worker.is_silent()
    assert worker.coordinator.rejoin_needed_or_pending()
    assert worker.rejoins().reason is None


def test_a_completed_round_clears_the_rejoin_request(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.coordinator.request_rejoin("first")
    worker.poll()
    worker.coordinator.request_rejoin("second, while joining")
    worker.round(2, work())
    assert not worker.coordinator.rejoin_needed_or_pending()


def test_a_failed_round_is_assigned_and_joined_again_at_once(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.coordinator.request_rejoin("again")
    worker.poll()
    worker.took()
    worker.round(2, work(error=1, offset=9))
    assert worker.took() == [("assigned", ("c0",), 2)]
    assert worker.claim().connectors == ("c0",), "cooperative claims survive a failed round"
    assert worker.coordinator.last_completed_generation() == 2


def test_a_heartbeat_that_announces_a_rebalance_makes_the_worker_join(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    assert not worker.coordinator.rejoin_needed_or_pending()
    worker.heartbeat(Error.REBALANCE_IN_PROGRESS)
    assert worker.rejoins().member_id == "m"
    assert worker.coordinator.rejoin_needed_or_pending()
    worker.joined(2, SESSIONED)
    assert worker.coordinator.rejoin_needed_or_pending(), "until the round is completed"
    worker.synced(work(), SESSIONED)
    assert not worker.coordinator.rejoin_needed_or_pending()


def test_a_heartbeat_that_was_refused_for_good_is_raised_once_the_worker_has_joined(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.heartbeat(Error.FENCED_INSTANCE_ID)
    worker.joined(2, SESSIONED)
    with pytest.raises(GroupError, match="FENCED_INSTANCE_ID"):
        worker.synced(work("c1"), SESSIONED)
    assert worker.took()[-1] == ("assigned", ("c1", "c0"), 2)
    worker.poll()


def test_each_join_takes_a_new_snapshot_of_the_configs(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.configs.offset = 9
    assert worker.coordinator.config_state.offset == 1, "what is read later changes nothing"
    worker.coordinator.request_rejoin("again")
    assert read_worker_state(worker.rejoins().protocols[0].metadata).config_offset == 9
    assert worker.coordinator.config_state.offset == 9


# ---------------------------------------------------------------------------------------------------- claims


def test_a_cooperative_assignment_adds_to_the_claim(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0 c0-0"))
    worker.coordinator.request_rejoin("again")
    worker.poll()
    worker.round(2, work("c1 c1-0", revoked="c0-0"))
    claim = worker.coordinator.assignment
    assert claim is not None
    assert claim.names == ("c1", "c0", "c1-0")
    assert claim.revoked_names == ("c0-0",)
    worker.coordinator.request_rejoin("again")
    worker.poll()
    assert sorted(worker.claim().names) == ["c0", "c1", "c1-0"]


def test_nothing_is_sorted_out_that_is_claimed_and_assigned(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.coordinator.request_rejoin("again")
    worker.poll()
    worker.round(2, work("c0"))
    claim = worker.coordinator.assignment
    assert claim is not None
    assert claim.connectors == ("c0", "c0")


def test_revocation_comes_before_assignment_and_names_the_new_leader(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0 c0-0"))
    worker.coordinator.request_rejoin("again")
    worker.poll()
    worker.took()
    worker.round(2, work("c1", revoked="c0", leader="new"))
    assert worker.took() == [("revoked", "new", ("c0",)), ("assigned", ("c1", "c0-0"), 2)]


def test_what_was_never_claimed_can_be_revoked(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0", revoked="c9-1"))
    assert worker.took() == [("revoked", "other", ("c9-1",)), ("assigned", ("c0",), 1)]


def test_an_eager_assignment_replaces_the_claim() -> None:
    worker = ScriptedWorker(EAGER)
    worker.round(1, work("c0 c0-0"), EAGER)
    worker.coordinator.request_rejoin("again")
    worker.poll()
    worker.round(2, work("c1"), EAGER)
    claim = worker.coordinator.assignment
    assert claim is not None
    assert claim.names == ("c1",)
    assert worker.took() == [
        ("assigned", ("c0", "c0-0"), 1),
        ("revoked", "other", ("c0", "c0-0")),
        ("assigned", ("c1",), 2),
    ]


def test_a_cooperative_worker_stops_nothing_before_it_joins(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.took()
    worker.heartbeat(Error.UNKNOWN_MEMBER_ID)
    assert worker.rejoins().member_id == ""
    assert worker.took() == []
    assert worker.claim().connectors == ("c0",), "a worker that was thrown out still claims its work"


def test_an_eager_worker_stops_everything_however_its_membership_ended() -> None:
    worker = ScriptedWorker(EAGER)
    worker.round(1, work("c0"), EAGER)
    worker.took()
    worker.heartbeat(Error.UNKNOWN_MEMBER_ID)
    worker.poll()
    assert worker.took() == [("revoked", "other", ("c0",))]


@pytest.mark.parametrize(
    ("reply", "revoked"),
    [(None, 0), (JoinGroupReply(error=Error.COORDINATOR_LOAD_IN_PROGRESS), 0), (UNKNOWN_MEMBER, 1)],
    ids=["lost", "to be repeated", "of an unknown member"],
)
def test_a_join_is_prepared_once__and_again_after_the_membership_was_reset(
    reply: JoinGroupReply | None, revoked: int
) -> None:
    """The claim is still there, so an eager worker revokes it once more."""
    worker = ScriptedWorker(EAGER)
    worker.round(1, work("c0"), EAGER)
    worker.coordinator.request_rejoin("again")
    worker.poll()
    worker.took()
    worker.answer(JoinGroupRequest, reply)
    worker.poll(2_000)
    worker.poll(2_000)
    assert isinstance(worker.request(JoinGroupRequest), JoinGroupRequest), "it joins again"
    assert worker.took() == [("revoked", "other", ("c0",))] * revoked


def test_a_failed_eager_assignment_is_not_revoked() -> None:
    worker = ScriptedWorker(EAGER)
    worker.round(1, work(error=1), EAGER)
    assert [call[0] for call in worker.took()] == ["assigned"]


def test_bytes_of_v0_have_no_revocations_and_no_delay() -> None:
    worker = ScriptedWorker(COMPATIBLE)
    worker.round(1, work("c0", revoked="c1", delay_ms=5), EAGER)
    claim = worker.coordinator.assignment
    assert claim is not None
    assert (claim.revoked_names, claim.delay_ms) == ((), 0)


@pytest.mark.parametrize("mode", ConnectMode)
def test_a_member_without_an_assignment_dies_of_it(mode: ConnectMode) -> None:
    worker = ScriptedWorker(mode)
    worker.joined(1, mode)
    worker.answer(SyncGroupRequest, SyncGroupReply(assignment=b""))
    for _ in range(2):
        with pytest.raises(RebalanceCheckError, match="a worker's assignment"):
            worker.poll()


# ---------------------------------------------------------------------------------------------------- redelivery


def test_the_same_bytes_come_again_after_the_listener_raised(worker: ScriptedWorker) -> None:
    worker.joined(1, SESSIONED)
    worker.raises = ValueError("the herder cannot take it")
    with pytest.raises(ValueError, match="cannot take it"):
        worker.synced(work("c0"), SESSIONED)
    worker.poll()
    assert worker.took() == [("assigned", ("c0",), 1), ("assigned", ("c0", "c0"), 1)], "merged with itself, as in Kafka"
    assert not worker.coordinator.rejoin_needed_or_pending()


def test_a_revocation_that_takes_time_holds_the_assignment_back(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.coordinator.request_rejoin("again")
    worker.poll()
    worker.took()
    worker.stops_at_once = False
    worker.round(2, work("c1", revoked="c0"))
    worker.poll(100)
    assert worker.took() == [("revoked", "other", ("c0",))] * 2
    assert worker.coordinator.last_completed_generation() == 1
    worker.stops_at_once = True
    worker.poll(100)
    assert worker.took() == [("revoked", "other", ("c0",)), ("assigned", ("c1",), 2)]


def test_a_wake_up_during_a_revocation_gives_up_nothing_else(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0 c1"))
    worker.coordinator.request_rejoin("again")
    worker.poll()
    worker.took()
    worker.stops_at_once = False
    worker.round(2, work(revoked="c0"))
    worker.coordinator.wake_up()
    worker.stops_at_once = True
    worker.poll(100)
    assert worker.took()[-2:] == [("revoked", "other", ("c0",)), ("assigned", ("c1",), 2)]


def test_a_revocation_that_takes_too_long_costs_the_membership_but_is_finished(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.coordinator.request_rejoin("again")
    worker.poll()
    worker.stops_at_once = False
    worker.round(2, work("c1", revoked="c0"))
    for _ in range(19):
        worker.heartbeat()
        worker.poll()
    worker.tick(3_000)
    assert worker.request(LeaveGroupRequest).members[0].reason == "worker poll timeout has expired."
    worker.took()
    worker.stops_at_once = True
    worker.poll()
    assert worker.took()[-1] == ("assigned", ("c1",), 2)


def test_an_eager_worker_joins_only_when_everything_has_stopped() -> None:
    worker = ScriptedWorker(EAGER)
    worker.round(1, work("c0"), EAGER)
    worker.coordinator.request_rejoin("again")
    worker.stops_at_once = False
    worker.poll()
    worker.configs.offset = 9
    worker.poll(100)
    assert worker.is_silent()
    worker.stops_at_once = True
    assert worker.rejoins().member_id == "m"
    assert worker.coordinator.config_state.offset == 9, "the metadata is taken when everything has stopped"


def test_a_revocation_that_has_begun_goes_on_without_a_coordinator() -> None:
    worker = ScriptedWorker(EAGER)
    worker.round(1, work("c0"), EAGER)
    worker.coordinator.request_rejoin("again")
    worker.stops_at_once = False
    worker.poll()
    while not worker.coordinator.coordinator_unknown():
        worker.lose_coordinator()
    worker.took()
    worker.poll()
    assert worker.took() == [("revoked", "other", ("c0",))], "Java's thread is inside onRevoked"
    worker.stops_at_once = True
    worker.poll()
    assert worker.took() == [("revoked", "other", ("c0",))]
    assert worker.is_silent(), "nothing is sent while the coordinator is unknown"
    worker.poll(10_000)
    assert worker.took() == [], "it joins, and does not give up for want of a coordinator"
    worker.reachable = True
    worker.poll(1_000)
    worker.poll(1_000)
    assert worker.request(JoinGroupRequest).member_id == "m"
    assert worker.took() == [], "nothing is left to give up"


# ---------------------------------------------------------------------------------------------------- self-revocation


@pytest.mark.parametrize("mode", ConnectMode)
def test_a_worker_without_a_coordinator_gives_up_after_a_heartbeat_interval(mode: ConnectMode) -> None:
    worker = ScriptedWorker(mode)
    worker.round(1, work("c0"), mode)
    worker.took()
    worker.lose_coordinator()
    while not worker.coordinator.coordinator_unknown():
        worker.lose_coordinator()
    worker.poll()
    worker.poll(2_999)
    assert worker.took() == []
    worker.poll(1)
    assert worker.took() == [("revoked", "other", ("c0",))]
    assert worker.coordinator.assignment is None
    worker.poll(10_000)
    assert worker.took() == []
    worker.reachable = True
    worker.poll(1_000)
    assert worker.claim() is EMPTY or worker.claim().names == ()


def test_a_coordinator_that_is_found_in_time_changes_nothing(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.took()
    while not worker.coordinator.coordinator_unknown():
        worker.lose_coordinator()
    worker.poll()
    worker.reachable = True
    worker.poll(2_000)
    worker.poll(10_000)
    assert worker.took() == []
    assert worker.coordinator.is_leader() is False
    assert not worker.coordinator.rejoin_needed_or_pending()


def test_a_worker_that_is_joining_does_not_give_up_unless_it_is_woken_up(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.coordinator.request_rejoin("again")
    worker.poll()
    worker.took()
    worker.reachable = False
    worker.answer(JoinGroupRequest, None)
    worker.poll()
    worker.poll(10_000)
    assert worker.took() == [], "Java's thread is inside the join"
    worker.coordinator.wake_up()
    worker.poll()
    worker.poll(3_000)
    assert worker.took() == [("revoked", "other", ("c0",))]


def test_a_failed_assignment_is_not_given_up(worker: ScriptedWorker) -> None:
    worker.round(1, work(error=1))
    worker.reachable = False
    worker.answer(JoinGroupRequest, None)
    worker.coordinator.wake_up()
    worker.poll()
    worker.poll(3_000)
    assert [call[0] for call in worker.took()] == ["assigned"]
    assert worker.coordinator.assignment is not None


# ---------------------------------------------------------------------------------------------------- leaving


def test_a_worker_that_does_not_poll_leaves_while_its_work_goes_on(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.took()
    for _ in range(19):
        worker.heartbeat()
    worker.tick(3_000)
    assert worker.request(LeaveGroupRequest).members[0].member_id == "m"
    assert worker.took() == [], "KAFKA-16056: nothing is stopped"
    worker.answer(LeaveGroupRequest, None)
    worker.reachable = True
    worker.poll(100)
    request = worker.request(JoinGroupRequest)
    assert (request.member_id, worker.claim().connectors) == ("", ("c0",))


def test_leaving_without_closing_stops_nothing(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    worker.took()
    worker.coordinator.maybe_leave_group("taking too long to read the log", worker.now_ms)
    assert worker.took() == []
    assert worker.coordinator.member_id() == ""
    assert worker.coordinator.assignment is not None


def test_close_leaves_the_group(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"))
    assert worker.coordinator.close(worker.now_ms)
    ((_, request),) = worker.coordinator.take_requests()
    assert isinstance(request, LeaveGroupRequest)
    with pytest.raises(RebalanceCheckError, match="was closed"):
        worker.poll()


# ---------------------------------------------------------------------------------------------------- who am I


def test_the_member_id_is_empty_while_the_worker_is_not_stable(worker: ScriptedWorker) -> None:
    def standing() -> tuple[str, int, int]:
        one = worker.coordinator
        return one.member_id(), one.generation_id(), one.last_completed_generation()

    worker.joined(3, SESSIONED)
    assert standing() == ("", 3, -1)
    worker.synced(work("c0"), SESSIONED)
    assert standing() == ("m", 3, 3)
    worker.heartbeat(Error.UNKNOWN_MEMBER_ID)
    assert standing() == ("", -1, 3)


def test_a_poll_proves_the_worker_alive_only_when_nothing_is_pending(worker: ScriptedWorker) -> None:
    """Java's thread is inside the join for as long as SyncGroup is parked, and does not come to ``pollHeartbeat``."""
    worker.joined(1, SESSIONED)
    for _ in range(19):
        worker.heartbeat()
        worker.poll()
    worker.tick(3_000)
    assert [type(request) for _, request in worker.waiting()] == [SyncGroupRequest, LeaveGroupRequest]


def test_a_downgrade_stops_nothing_as_in_kafka__or_everything_where_that_is_mended() -> None:
    """KAFKA-13816: a cooperative group that an eager worker joins."""
    for mends, revoked in ((False, []), (True, [("revoked", "other", ("c0", "c1"))])):
        worker = ScriptedWorker(revoke_on_downgrade=mends)
        worker.round(1, work("c0 c1"))
        worker.coordinator.request_rejoin("another worker came")
        worker.poll()
        worker.took()
        worker.round(2, work("c0"), EAGER)
        assert worker.took() == [*revoked, ("assigned", ("c0",), 2)]
        worker.coordinator.request_rejoin("again")
        worker.poll()
        assert worker.took() == [("revoked", "other", ("c0",))], "the next eager join stops the new claim alone"


def test_an_upgrade_claims_what_the_last_eager_round_stopped() -> None:
    worker = ScriptedWorker(COMPATIBLE)
    worker.round(1, work("c0"), EAGER)
    worker.coordinator.request_rejoin("the eager worker left")
    worker.poll()
    assert worker.took()[-1] == ("revoked", "other", ("c0",))
    assert worker.claim().connectors == ("c0",)


def test_the_header_of_a_claim_is_that_of_the_entry(worker: ScriptedWorker) -> None:
    worker.round(1, work("c0"), COMPATIBLE)
    worker.coordinator.request_rejoin("again")
    offers = {offer.name: offer.metadata for offer in worker.rejoins().protocols}
    for name, metadata in offers.items():
        claim: ConnectAssignment = read_worker_state(metadata).allocation
        assert name == "default" or claim.version == ConnectMode.of_protocol(name).version
