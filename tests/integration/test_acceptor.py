"""Recorded groups are accepted where a Kafka coordinator may have replied so, and refused where it may not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rebalance_check.impl.mutants import Mutant, ScenarioSearch, find_mutant, planted
from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.integration.acceptor import accept
from rebalance_check.model.vocabulary.events import Event, ReplyObserved, RequestObserved
from rebalance_check.properties.history import read_history
from tests.integration.kits.ours_in_threads import OurGroup
from tests.integration.recorded_scenarios import on_ours

SCENARIOS = 60

DEFECTS = {
    "absent-leader-not-replaced": 36,
    "all-get-one-assignment": 25,
    "commit-accepted-while-completing": 9,
    "every-member-leads": 0,
    "expiry-without-rebalance": 2,
    "followers-get-their-last-choice": 0,
    "generation-reused": 8,
    "heartbeat-accepts-stale-generation": 88,
    "iggy-leave-lookup-outside-update": 0,
    "iggy-stale-client-misreported": 0,
    "join-keeps-absent-members": 0,
    "join-retry-creates-abandoned-members": 0,
    "late-sync-gets-nothing": 29,
    "leader-decides-protocol": 32,
    "leave-does-not-complete-join": 9,
    "leave-without-rebalance": 9,
    "no-sync-deadline": 8,
    "redpanda-join-timer-not-cancelled": 54,
    "static-join-in-completing-gets-empty": 0,
    "static-restart-keeps-predecessor": 24,
    "sync-accepts-stale-generation": 12,
}
"""By defect of the coordinator, the random scenario that shows it on the wire."""

EDITS = {
    "no id comes first": (0, "join:join_as_new_member", ">= MEMBER_ID_REQUIRED_SINCE", "< 0"),
    "a follower is sent the members": (0, "rebalance:join_reply", "leads and with_members", "with_members"),
    "a generation is left out": (0, "rebalance:start_generation", "generation += 1", "generation += 2"),
    "no heartbeat reports the rebalance": (
        62, "heartbeat:verdict", "group.status is GroupStatus.PREPARING_REBALANCE", "False"),
    "each heartbeat before Stable reports a rebalance": (
        7, "heartbeat:verdict", "group.status is GroupStatus.PREPARING_REBALANCE",
        "group.status is not GroupStatus.STABLE"),
    "a SyncGroup during the join phase is called stale": (
        1, "sync:refusal", "Error.REBALANCE_IN_PROGRESS if", "Error.ILLEGAL_GENERATION if"),
    "an unknown member may leave": (
        8, "leave:leave_one", "        return error", "        return Error.NONE"),
    "a protocol that no other member has is accepted": (
        21, "join:join_existing", "not group.supports_protocols(request.protocol_type, request.protocols)", "False"),
    "no member is waited for": (0, "rebalance:prepare_rebalance", "group.has_all_members_joined()", "True"),
    "the JoinGroup of a member that leaves succeeds": (
        9, "leave:remove_member", "Error.UNKNOWN_MEMBER_ID", "Error.NONE"),
}  # fmt: skip
"""One-place edits of the coordinator: the random scenario that shows each on the wire, function, old and new text."""


@pytest.mark.parametrize("seed", range(16))
def test_members_of_ours_on_our_coordinator_are_accepted_by_their_own_records(seed: int) -> None:
    protocol = (SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE)[seed % 2]
    options = SimulationOptions(protocol=protocol, members=3, partitions=3, steps=20, faults=())
    found = accept(simulate(seed, options), "g", initial_delay_ms=3_000)
    assert found.refusal is None
    assert found.is_accepted or "no recorded reply" in found.undecided


def test_scenarios_on_our_coordinator_are_accepted() -> None:
    accepted = 0
    for number in range(SCENARIOS):
        config, history = on_ours(number)
        found = accept(history, "g", initial_delay_ms=config.initial_rebalance_delay_ms)
        assert found.refusal is None, (number, found.refusal)
        accepted += found.is_accepted
    assert accepted >= SCENARIOS * 0.9


def mutants() -> Iterator[tuple[Mutant, int]]:
    yield from ((find_mutant(name), scenario) for name, scenario in DEFECTS.items())
    for name, (scenario, function, old, new) in EDITS.items():
        edit = Edit(f"rebalance_check.impl.coordinator.{function}", old, new)
        found_by = ScenarioSearch(first=scenario, last=scenario + 1)
        yield Mutant(name=name, what=name, caught_by="differs", where="impl", find=found_by, edits=(edit,)), scenario


@pytest.mark.parametrize(("mutant", "scenario"), [pytest.param(one, at, id=one.name) for one, at in mutants()])
def test_a_coordinator_with_a_defect_is_refused(mutant: Mutant, scenario: int) -> None:
    with planted(mutant):
        config, history = on_ours(scenario)
    refusal = accept(history, "g", initial_delay_ms=config.initial_rebalance_delay_ms).refusal
    assert refusal is not None
    assert refusal.given not in refusal.expected


def test_a_recorded_group_on_the_embedded_broker_is_accepted__and_refused_with_another_reply(tmp_path: Path) -> None:
    with OurGroup(tmp_path / "history.jsonl") as group:
        group.start("p0")
        group.settled("p0")
        group.start("p1")
        group.settled("p0", "p1")
        group.stop("p0")
        group.settled("p1")
    history = list(read_history(tmp_path / "history.jsonl"))
    found = accept(history)
    assert found.is_accepted
    assert found.replies > 12
    at, last = [(at, one) for at, one in enumerate(history) if _is_joined(one)][-1]
    assert isinstance(last, ReplyObserved)
    other: list[Event] = [*history[:at], replace(last, reply_generation=last.reply_generation + 1), *history[at + 1 :]]
    refusal = accept(other).refusal
    assert refusal is not None
    assert refusal.reply == other[at]
    assert f"reply_generation={last.reply_generation} " in refusal.expected[0]
    assert refusal.prefix[-1] == refusal.reply


def _is_joined(event: Event) -> bool:
    return isinstance(event, ReplyObserved) and event.api == "JoinGroup" and event.error == "NONE"


ASKED = RequestObserved(
    group="g", request=1, connection=1, api="JoinGroup", version=3, client_id="c", session_timeout_ms=10_000,
    rebalance_timeout_ms=10_000, protocol_type="consumer", protocols=("range",), metadata="00",
)  # fmt: skip
REPLY = ReplyObserved(
    group="g", request=1, connection=1, api="JoinGroup", reply_generation=1, assigned_member_id="c-1", leader="c-1",
    protocol="range", members=(("c-1", ""),),
)  # fmt: skip
HEARTBEAT = RequestObserved(
    group="g", request=3, connection=1, api="Heartbeat", version=3, member_id="c-1", request_generation=1
)
REMOVED = ReplyObserved(group="g", request=3, connection=1, api="Heartbeat", error="UNKNOWN_MEMBER_ID")
ANOTHER = replace(ASKED, request=2, connection=2)


def refused_with(error: str) -> ReplyObserved:
    return ReplyObserved(group="g", request=2, connection=2, api="JoinGroup", error=error)


def test_an_older_group_begins_at_its_generation() -> None:
    assert accept([ASKED, replace(REPLY, reply_generation=7)], "g").is_accepted


@pytest.mark.parametrize(
    ("history", "reason"),
    [
        ([], "holds no request of the group with its reply"),
        ([replace(ASKED, member_id="c-1"), REPLY], "the record begins with a JoinGroup of c-1"),
        ([ANOTHER, ASKED, replace(REPLY, protocol="other")], "1 requests before it have no recorded reply"),
        ([ANOTHER, refused_with("GROUP_MAX_SIZE_REACHED"), ASKED, replace(REPLY, leader="c-9")], "the group is full"),
        (
            [ASKED, replace(REPLY, members=(("c-1", ""), ("d-1", "")))],
            "d-1 is a member whose requests are not recorded",
        ),
        ([ASKED, REPLY, HEARTBEAT, REMOVED], "an operator, whom no record shows, may have removed a member"),
    ],
    ids=[
        "no events",
        "an older group",
        "a reply that was not recorded",
        "a full group",
        "an unrecorded member",
        "an operator",
    ],
)
def test_where_the_record_lacks_something_nothing_is_refused(history: list[Event], reason: str) -> None:
    found = accept(history, "g")
    assert not found.is_accepted
    assert found.refusal is None
    assert reason in found.undecided


@pytest.mark.parametrize("error", ["NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "INVALID_SESSION_TIMEOUT"])
def test_a_refusal_for_a_reason_that_no_record_shows_is_accepted(error: str) -> None:
    assert accept([ANOTHER, refused_with(error), ASKED, REPLY], "g").is_accepted
