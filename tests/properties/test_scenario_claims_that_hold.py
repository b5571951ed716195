"""Steps of a scenario that are near a violation, and are none.

The smallest history that breaks each stands with its declaration, and `test_laws` judges it.
"""

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    Event,
    GroupDescribed,
    ReplyReceived,
    RequestIssued,
    StepStarted,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Held, Outcome

History = Callable[..., list[Event]]

RETENTION_MS: Final = 60_000

A: Final = ("a-1", "")
B: Final = ("b-1", "")


def settings(max_size: int = 1) -> CoordinatorConfigured:
    return CoordinatorConfigured(max_size=max_size, offsets_retention_ms=RETENTION_MS)


def step(line: str) -> StepStarted:
    return StepStarted(step=line)


def group(status: str, *members: tuple[str, str], generation: int = 1, at: int = 0, digest: str = "") -> GroupDescribed:
    return GroupDescribed(status=status, members=members, generation=generation, time_ms=at, digest=digest)


def join(request: int, member_id: str = "", instance: str = "", client: str = "a") -> RequestIssued:
    return RequestIssued(
        client=client, api="JoinGroup", request=request, version=9, member_id=member_id, instance_id=instance,
        session_timeout_ms=10_000,
    )  # fmt: skip


def reply(request: int, error: str = "NONE", assigned: str = "") -> ReplyReceived:
    return ReplyReceived(request=request, error=error, assigned_member_id=assigned)


def commit(request: int, offset: int = 5, producer: int = -1) -> tuple[Event, ...]:
    """A commit of one partition, and the reply that accepts it."""
    api = "OffsetCommit" if producer < 0 else "TxnOffsetCommit"
    return (
        RequestIssued(client="a", api=api, request=request, offsets=(("t-0", offset),), producer_id=producer),
        ReplyReceived(request=request, error="NONE", partition_errors=(("t-0", "NONE"),)),
    )


def fetch(request: int, offset: int) -> tuple[Event, ...]:
    return (
        RequestIssued(client="a", api="OffsetFetch", request=request),
        ReplyReceived(request=request, error="NONE", offsets=(("t-0", offset),)),
    )


def sync(
    request: int, member_id: str, generation: int, *given: tuple[str, str], assigned: str | None = None
) -> tuple[Event, ...]:
    """A SyncGroup with the assignments of a leader, and the reply that assigns its sender something."""
    own = dict(given).get(member_id, "") if assigned is None else assigned
    return (
        RequestIssued(
            client="a", api="SyncGroup", request=request, member_id=member_id, request_generation=generation,
            assignments=given,
        ),
        ReplyReceived(request=request, error="NONE", assignment=own),
    )  # fmt: skip


def leave(request: int, *leaving: tuple[str, str], error: str = "NONE") -> tuple[Event, ...]:
    return RequestIssued(client="a", api="LeaveGroup", request=request, leaving=leaving), reply(request, error)


STABLE: Final = group("Stable", A)
REBALANCES: Final = group("PreparingRebalance", A)


def aged(status: str) -> GroupDescribed:
    return group(status, A, at=RETENTION_MS)


HOLDS: Final[dict[str, list[list[Event]]]] = {
    "assigned_member_ids_are_new": [
        # The client that was assigned an id joins with it, and gets it back.
        [step("join a"), join(1), reply(1, "MEMBER_ID_REQUIRED", "a-1"), join(2, "a-1"), reply(2, assigned="a-1"),
         group("Stable", A)],
    ],
    "member_id_is_known_before_membership": [
        [step("join a"), join(1), reply(1, "MEMBER_ID_REQUIRED", "a-1"), group("Empty"),
         step("join a"), join(2, "a-1"), group("PreparingRebalance", A)],
    ],
    "leave_removes_only_named_members": [
        [group("Stable", A, B), step("leave a"), *leave(1, A), group("PreparingRebalance", B)],
        [group("Stable", ("a-1", "i"), B), step("leave a"), *leave(1, ("", "i")), group("PreparingRebalance", B)],
    ],
    "refusals_are_true": [
        [step("failover loading"), group("Dead"), step("join a"), join(1),
         reply(1, "COORDINATOR_LOAD_IN_PROGRESS"), group("Dead"), step("load"), group("Empty"), step("join a"),
         join(2), reply(2), group("Stable", A)],
    ],
    "committed_offset_is_fetched": [
        [settings(), step("commit a 1"), *commit(1), STABLE, step("commit a 1"), *commit(2, 4), STABLE,
         step("fetch"), *fetch(3, 4), STABLE],
        [settings(), step("commit a 1"), *commit(1), REBALANCES, step("fetch"), *fetch(2, 5),
         aged("PreparingRebalance"), step("advance 1"), group("Empty", at=RETENTION_MS + 1), step("fetch"),
         *fetch(3, -1), group("Empty")],
    ],
    "members_are_known": [
        [step("join a"), join(1), reply(1, assigned="a-1"), STABLE],
    ],
    "group_fits_max_size": [[settings(2), step("join b"), group("Stable", A, B)]],
    "leave_without_members_changes_nothing": [
        [group("Stable", A, B), step("leave a"), *leave(1, A), group("PreparingRebalance", B)],
        [STABLE, step("leave b"), *leave(1, ("b-1", ""), error="UNKNOWN_MEMBER_ID"), STABLE],
    ],
    "parked_member_stays": [
        [join(1, "a-1"), step("advance 3000"), REBALANCES, step("advance 3000"), reply(1, assigned="a-1"), STABLE],
    ],
    "no_server_error": [
        [step("join a"), join(1), reply(1, assigned="a-1"), STABLE, step("fail MESSAGE_TOO_LARGE"), STABLE,
         step("sync a 1"), join(2), reply(2, "UNKNOWN_SERVER_ERROR"), STABLE],
    ],
    "fenced_stays_fenced": [
        [step("join a"), join(1, "a-1", "i"), reply(1, "FENCED_INSTANCE_ID", "a-1"), group("Stable", ("b-1", "i")),
         step("advance 5000"), group("Stable", ("b-1", "i"))],
    ],
    "join_phase_ends": [
        [step("sync a 1"), group("Stable", A, B), step("join a"), join(1, "a-1"), group("PreparingRebalance", A, B)],
        # The duplicate of a JoinGroup that was answered waits for nothing: its member may still join.
        [step("sync a 1"), group("Stable", A, B), step("join b"), join(1, "b-1", client="b"), join(2, "b-1"),
         reply(2), group("PreparingRebalance", A, B)],
    ],
    "refused_join_leaves_no_trace": [
        [group("Stable", A, digest="1"), step("join b"), join(1), reply(1, "INCONSISTENT_GROUP_PROTOCOL"),
         group("Stable", A, digest="1")],
    ],
    "generations_have_members": [
        [group("Empty"), step("advance 3000"), group("Empty"), step("failover lose=1"), group("Empty", generation=0)],
    ],
    "kept_offsets_keep_their_group": [
        # The offset is kept; then it is too old, and the group may go.
        [settings(), step("commit a 1"), *commit(1), group("Empty"), step("advance 1"), group("Empty", at=1),
         step("advance 60000"), group("Dead", at=RETENTION_MS + 1)],
        # An open transaction keeps the group, until it ends.
        [settings(), step("txn-commit a 1"), *commit(1, producer=7), group("Empty"), step("advance 60001"),
         group("Empty", at=RETENTION_MS + 1), step("end-txn producer=7"), group("Empty", at=RETENTION_MS + 1),
         step("advance 1"), group("Dead", at=RETENTION_MS + 2)],
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "events"), [pytest.param(name, events, id=name) for name, each in HOLDS.items() for events in each]
)
def test_a_claim_over_steps_holds__and_has_checked_events(history: History, name: str, events: list[Event]) -> None:
    verdict = judge(history(*events), select([name])).verdict(name)
    assert isinstance(verdict, Held)
    assert verdict.checked_events > 0, "the history does not put the claim to the test"


@pytest.mark.parametrize("status", ["PreparingRebalance", "CompletingRebalance"])
def test_an_old_offset__of_a_group_that_rebalances__must_be_there(history: History, status: str) -> None:
    claim = select(["committed_offset_is_fetched"])
    events = [settings(), step("commit a 1"), *commit(1), group(status, A), step("advance 60000"), aged(status),
              step("fetch"), *fetch(2, -1), aged(status)]  # fmt: skip
    assert judge(history(*events), claim).verdict("committed_offset_is_fetched").outcome is Outcome.VIOLATED


def test_an_old_offset__of_a_group_that_was_stable_meanwhile__may_be_gone(history: History) -> None:
    claim = select(["committed_offset_is_fetched"])
    events = [settings(), step("commit a 1"), *commit(1), REBALANCES, step("advance 60000"), aged("Stable"),
              step("join b"), aged("PreparingRebalance"), step("fetch"), *fetch(2, -1),
              aged("PreparingRebalance")]  # fmt: skip
    assert judge(history(*events), claim).verdict("committed_offset_is_fetched").outcome is not Outcome.VIOLATED
