"""Where a coordinator of Kafka is known to differ from the model, which follows the Java coordinator of Kafka 4.

Each divergence carries the shortest schedule that shows it; a test holds that it does, and that no other coordinator
does the same. ``docs/differences.md`` is made from this list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.conformance import Divergence
from rebalance_check.integration.virtual.release import Release
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.model.vocabulary.schedule import Schedule


@dataclass(frozen=True, slots=True)
class KnownDivergence:
    """One divergence: which coordinators show it, what happens and why, a schedule, and how it is recognised."""

    name: str
    coordinators: str
    what: str
    why: str
    schedule: Schedule
    concerns: Callable[[Release], bool]
    recognises: Callable[[Divergence], bool]


def known(release: Release, divergence: Divergence) -> KnownDivergence | None:
    """The entry that explains a divergence of this release; None for one that nobody has looked at."""
    return next((each for each in KNOWN if each.concerns(release) and each.recognises(divergence)), None)


def _stays_in_the_initial_rebalance(divergence: Divergence) -> bool:
    """A member expired, the model ends the join phase, the coordinator waits on."""
    ends = all(outcome.view.status != GroupStatus.PREPARING_REBALANCE for outcome in divergence.predicted)
    waits = divergence.observed.view.status == GroupStatus.PREPARING_REBALANCE
    same_answers = any(set(divergence.observed.answers) <= set(outcome.answers) for outcome in divergence.predicted)
    return divergence.action.kind is ActionKind.EXPIRE_SESSION and ends and waits and same_answers


def _goes_on_without_an_unused_id(divergence: Divergence) -> bool:
    """An id was given back, the model begins a rebalance, the coordinator does not."""
    begins = all(outcome.view.status == GroupStatus.PREPARING_REBALANCE for outcome in divergence.predicted)
    same_answers = all(outcome.answers == divergence.observed.answers for outcome in divergence.predicted)
    goes_on = divergence.observed.view.status in {GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}
    return divergence.action.kind is ActionKind.LEAVE_GROUP and begins and goes_on and same_answers


def _answers_with_a_rebalance_while_loading(divergence: Divergence) -> bool:
    """A SyncGroup meets a coordinator that is loading."""
    answers = [answer.error for outcome in divergence.predicted for answer in outcome.answers]
    given = [answer.error for answer in divergence.observed.answers]
    return (
        divergence.action.kind is ActionKind.SYNC_GROUP
        and answers == [Error.COORDINATOR_LOAD_IN_PROGRESS.name]
        and given == [Error.REBALANCE_IN_PROGRESS.name]
    )


def _has_forgotten_the_empty_group(divergence: Divergence) -> bool:
    """A group that should be Empty is not there to be deleted, or to refuse a commit as that of an unknown member."""
    answers = {answer.error for outcome in divergence.predicted for answer in outcome.answers}
    given = {answer.error for answer in divergence.observed.answers}
    if divergence.action.kind is ActionKind.DELETE_GROUP:
        return (answers, given) == ({"NONE"}, {"GROUP_ID_NOT_FOUND"})
    commits = divergence.action.kind in {ActionKind.COMMIT_DURING_JOIN, ActionKind.OFFSET_COMMIT}
    dead = divergence.observed.view.status == GroupStatus.DEAD
    return commits and dead and (answers, given) == ({"UNKNOWN_MEMBER_ID"}, {"ILLEGAL_GENERATION"})


KNOWN: Final = (
    KnownDivergence(
        name="an expiry does not end the initial rebalance",
        coordinators="3.9.2 (Scala)",
        what=(
            "In the first rebalance of an empty group, an id that was handed out (KIP-394) or a member expires, and all"
            " who are left have joined: the Java coordinators complete the join phase at once, the one in Scala waits"
            " until the initial rebalance delay is over."
        ),
        why=(
            "Its InitialDelayedJoin cannot be completed early. Both are within the protocol: the delay is an upper"
            " bound. The model follows the Java coordinator."
        ),
        schedule=Schedule(
            Bounds.from_address("eager?members=2&partitions=1&generations=1&member_id_required"),
            (
                Action(ActionKind.SEND_JOIN_GROUP, 0),
                Action(ActionKind.JOIN_GROUP, 0),
                Action(ActionKind.CRASH, 0),
                Action(ActionKind.SEND_JOIN_GROUP, 1),
                Action(ActionKind.JOIN_GROUP, 1),
                Action(ActionKind.RECEIVE_ERROR, 1),
                Action(ActionKind.SEND_JOIN_GROUP, 1),
                Action(ActionKind.JOIN_GROUP, 1),
                Action(ActionKind.EXPIRE_SESSION, 0),
            ),
        ),
        concerns=lambda release: release.scala,
        recognises=_stays_in_the_initial_rebalance,
    ),
    KnownDivergence(
        name="a SyncGroup at a coordinator that is loading is answered with REBALANCE_IN_PROGRESS",
        coordinators="3.9.2 (Scala)",
        what=(
            "While the coordinator reads its log, the one in Scala answers a SyncGroup with REBALANCE_IN_PROGRESS, the"
            " Java coordinators with COORDINATOR_LOAD_IN_PROGRESS."
        ),
        why=(
            "Scala's is what clients can do with: they join again. The other is not among the errors that Kafka's own"
            " client expects of a SyncGroup, and is thrown out of poll; the application that polls on joins again, too."
            " The model follows the Java coordinator."
        ),
        schedule=Schedule(
            Bounds.from_address("eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1"),
            (
                Action(ActionKind.SEND_JOIN_GROUP, 0),
                Action(ActionKind.JOIN_GROUP, 0),
                Action(ActionKind.CRASH_COORDINATOR, 0),
                Action(ActionKind.RECEIVE_JOIN_GROUP, 0),
                Action(ActionKind.SYNC_GROUP, 0),
            ),
        ),
        concerns=lambda release: release.scala,
        recognises=_answers_with_a_rebalance_while_loading,
    ),
    KnownDivergence(
        name="the leave of an id that was never used does not rebalance",
        coordinators="3.9.2 (Scala)",
        what=(
            "A LeaveGroup gives back an id that was handed out (KIP-394) and not used, while the group has a"
            " generation: the Java coordinators begin a rebalance, the one in Scala does not."
        ),
        why=(
            "Java's begins one for a whole batch of leaves if any of them succeeded. It costs a round of joins, and"
            " breaks nothing. The model follows the Java coordinator."
        ),
        schedule=Schedule(
            Bounds.from_address(
                "eager?members=2&partitions=1&generations=1&crashes=0&leaves=1&initial_delay=off&member_id_required&new_members"
            ),
            (
                Action(ActionKind.SEND_JOIN_GROUP, 0),
                Action(ActionKind.SEND_JOIN_GROUP, 1),
                Action(ActionKind.JOIN_GROUP, 0),
                Action(ActionKind.RECEIVE_ERROR, 0),
                Action(ActionKind.SEND_JOIN_GROUP, 0),
                Action(ActionKind.JOIN_GROUP, 0),
                Action(ActionKind.JOIN_GROUP, 1),
                Action(ActionKind.RECEIVE_ERROR, 1),
                Action(ActionKind.SEND_LEAVE_GROUP, 1),
                Action(ActionKind.LEAVE_GROUP, 1),
            ),
        ),
        concerns=lambda release: release.scala,
        recognises=_goes_on_without_an_unused_id,
    ),
    KnownDivergence(
        name="a group without a generation is not on record",
        coordinators="3.9.2 (Scala)",
        what=(
            "A group that a JoinGroup created, and that had no generation yet, is forgotten by the coordinator in Scala"
            " when another takes over; of the Java coordinators it is an Empty group, which can be deleted, and refuses"
            " a commit with UNKNOWN_MEMBER_ID (Scala: ILLEGAL_GENERATION, as of any group that is not there)."
        ),
        why=(
            "Scala writes a group with its first generation, Java when it is created. Nothing is lost with it. The"
            " model follows the Java coordinator."
        ),
        schedule=Schedule(
            Bounds.from_address(
                "eager?members=1&partitions=1&generations=2&crashes=0&deletions=1&initial_delay=off&member_id_required&failovers=1"
            ),
            (
                Action(ActionKind.SEND_JOIN_GROUP, 0),
                Action(ActionKind.JOIN_GROUP, 0),
                Action(ActionKind.CRASH_COORDINATOR, 0),
                Action(ActionKind.LOAD_COORDINATOR, 0),
                Action(ActionKind.DELETE_GROUP, 0),
            ),
        ),
        concerns=lambda release: release.scala,
        recognises=_has_forgotten_the_empty_group,
    ),
)
