"""The scenarios of the kit, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.integration.exchange.faults import Effect
from rebalance_check.integration.kits.client import churn
from rebalance_check.integration.kits.client.errors import Disturbance, coordinator_moves, disturbed
from rebalance_check.integration.kits.client.placeholders import INSTANCE, PLACEHOLDERS
from rebalance_check.integration.kits.client.stepping import Steps
from rebalance_check.integration.kits.client.trial import Trial
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Steps for a group of its own: ``what`` says them in a line, ``is_static`` that its members are static."""

    name: str
    what: str
    steps: Callable[[Trial], Steps]
    is_static: bool = False


_ALONE: Final = (Api.HEARTBEAT, Api.OFFSET_COMMIT)
_ANSWER: Final = Effect.ANSWER

_ALL: Final = (
    Scenario(
        name="joins",
        what="members join one after the other, one more joins, one leaves, all end",
        steps=churn.members_join,
    ),
    Scenario(
        name="kill", what="a member is killed, its session expires, it comes back", steps=churn.member_is_killed
    ),
    Scenario(
        name="pause", what="a member is paused for longer than its session, and runs on", steps=churn.member_is_paused
    ),
    Scenario(
        name="static",
        what="static members end or are killed and come back; another process takes an instance id",
        steps=churn.static_members_restart,
        is_static=True,
    ),
    Scenario(name="partitions", what="partitions are added to the topic", steps=churn.partitions_are_added),
    Scenario(
        name="rebalance-in-progress",
        what="Heartbeat, OffsetCommit and SyncGroup are answered REBALANCE_IN_PROGRESS",
        steps=disturbed(Disturbance(_ANSWER, Error.REBALANCE_IN_PROGRESS), *_ALONE, Api.SYNC_GROUP),
    ),
    Scenario(
        name="illegal-generation",
        what="Heartbeat, OffsetCommit and SyncGroup are answered ILLEGAL_GENERATION",
        steps=disturbed(Disturbance(_ANSWER, Error.ILLEGAL_GENERATION), *_ALONE, Api.SYNC_GROUP),
    ),
    Scenario(
        name="unknown-member-id",
        what="Heartbeat, OffsetCommit, JoinGroup and SyncGroup are answered UNKNOWN_MEMBER_ID",
        steps=disturbed(Disturbance(_ANSWER, Error.UNKNOWN_MEMBER_ID), *_ALONE, Api.JOIN_GROUP, Api.SYNC_GROUP),
    ),
    Scenario(
        name="not-coordinator",
        what="Heartbeat, OffsetCommit, JoinGroup and SyncGroup are answered NOT_COORDINATOR",
        steps=disturbed(Disturbance(_ANSWER, Error.NOT_COORDINATOR), *_ALONE, Api.JOIN_GROUP, Api.SYNC_GROUP),
    ),
    Scenario(name="coordinator-moves", what="the coordinator moves to another node", steps=coordinator_moves),
    Scenario(
        name="coordinator-loads",
        what="OffsetCommit, JoinGroup and OffsetFetch are answered COORDINATOR_LOAD_IN_PROGRESS",
        steps=disturbed(
            Disturbance(_ANSWER, Error.COORDINATOR_LOAD_IN_PROGRESS),
            Api.OFFSET_COMMIT, Api.JOIN_GROUP, Api.OFFSET_FETCH,
        ),
    ),
    Scenario(
        name="lost-replies",
        what="Heartbeat, OffsetCommit, JoinGroup and SyncGroup are handled, and the connection closes before the reply",
        steps=disturbed(Disturbance(Effect.CLOSE_AFTER), *_ALONE, Api.JOIN_GROUP, Api.SYNC_GROUP),
    ),
    Scenario(
        name="closed-connections",
        what="the connection closes before Heartbeat, OffsetCommit, JoinGroup or SyncGroup is handled",
        steps=disturbed(Disturbance(Effect.CLOSE_BEFORE), *_ALONE, Api.JOIN_GROUP, Api.SYNC_GROUP),
    ),
)  # fmt: skip

FAULTS: Final = Scenario(name="faults", what="as joins, and the faults of a file strike", steps=churn.members_join)
"""The scenario of a file of faults; it has none without one."""

SCENARIOS: Final[Mapping[str, Scenario]] = {scenario.name: scenario for scenario in _ALL}
"""In the order in which they are run."""


def chosen_scenarios(names: Sequence[str], *, is_static: bool, has_faults: bool = False) -> tuple[Scenario, ...]:
    """The scenarios of these names, all where none is given; with a file of faults, `FAULTS`, and those that are named.

    ``is_static``: the command can start static members.

    Raises: RebalanceCheckError for a name that is none, and for a static scenario that is named and cannot be run.
    """
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        raise RebalanceCheckError(f"{unknown[0]!r} is no scenario: choose from {', '.join(SCENARIOS)}")
    if not names and not has_faults:
        return tuple(each for each in SCENARIOS.values() if is_static or not each.is_static)
    chosen = tuple(SCENARIOS[name] for name in SCENARIOS if name in names)
    static = [each.name for each in chosen if each.is_static]
    if static and not is_static:
        raise RebalanceCheckError(
            f"the scenario {static[0]} needs static members: write {INSTANCE} where the command takes "
            f"{PLACEHOLDERS[INSTANCE]}"
        )
    return (FAULTS, *chosen) if has_faults else chosen
