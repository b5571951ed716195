"""Where a coordinator of Kafka is known to differ from the model, which follows the Java coordinator of Kafka 4.

Each entry carries the shortest schedule that shows it; a test holds that it does, and that no other coordinator
does the same. ``docs/differences.md`` is made from this list.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.impl.comparison.known import KnownDifference
from rebalance_check.impl.comparison.to_model.outcome import Disagreement, StepOutcome
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.model.vocabulary.schedule import Schedule


def _schedule(address: str) -> Schedule:
    """The schedule of an address, as ``rebalance-check compare model BROKER ADDRESS`` takes it."""
    path = path_at(address)
    return Schedule(path.bounds, path.actions)


def _predicted(difference: Difference) -> tuple[StepOutcome, ...]:
    start: Disagreement = difference.start
    return start.predicted


def _observed(difference: Difference) -> StepOutcome:
    start: Disagreement = difference.start
    return start.observed


def _stays_in_the_initial_rebalance(difference: Difference) -> bool:
    """A member expired, the model ends the join phase, the coordinator waits on."""
    ends = all(outcome.view.status != GroupStatus.PREPARING_REBALANCE for outcome in _predicted(difference))
    waits = _observed(difference).view.status == GroupStatus.PREPARING_REBALANCE
    same_answers = any(set(_observed(difference).answers) <= set(outcome.answers) for outcome in _predicted(difference))
    return difference.kind == ActionKind.EXPIRE_SESSION and ends and waits and same_answers


def _goes_on_without_an_unused_id(difference: Difference) -> bool:
    """An id was given back, the model begins a rebalance, the coordinator does not."""
    begins = all(outcome.view.status == GroupStatus.PREPARING_REBALANCE for outcome in _predicted(difference))
    same_answers = all(outcome.answers == _observed(difference).answers for outcome in _predicted(difference))
    goes_on = _observed(difference).view.status in {GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}
    return difference.kind == ActionKind.LEAVE_GROUP and begins and goes_on and same_answers


def _answers_with_a_rebalance_while_loading(difference: Difference) -> bool:
    """A SyncGroup meets a coordinator that is loading."""
    answers = [answer.error for outcome in _predicted(difference) for answer in outcome.answers]
    given = [answer.error for answer in _observed(difference).answers]
    return (
        difference.kind == ActionKind.SYNC_GROUP
        and answers == [Error.COORDINATOR_LOAD_IN_PROGRESS.name]
        and given == [Error.REBALANCE_IN_PROGRESS.name]
    )


def _has_forgotten_the_empty_group(difference: Difference) -> bool:
    """A group that should be Empty is not there to be deleted, or to refuse a commit as that of an unknown member."""
    answers = {answer.error for outcome in _predicted(difference) for answer in outcome.answers}
    given = {answer.error for answer in _observed(difference).answers}
    if difference.kind == ActionKind.DELETE_GROUP:
        return (answers, given) == ({"NONE"}, {"GROUP_ID_NOT_FOUND"})
    commits = difference.kind in {ActionKind.COMMIT_DURING_JOIN, ActionKind.OFFSET_COMMIT}
    dead = _observed(difference).view.status == GroupStatus.DEAD
    return commits and dead and (answers, given) == ({"UNKNOWN_MEMBER_ID"}, {"ILLEGAL_GENERATION"})


KNOWN: Final = (
    KnownDifference(
        name="an expiry does not end the initial rebalance",
        subjects="3.9.2 (Scala)",
        source="kafka.coordinator.group.GroupCoordinator",
        what=(
            "In the first rebalance of an empty group, an id that was handed out (KIP-394) or a member expires, and all"
            " who are left have joined: the Java coordinators complete the join phase at once, the one in Scala waits"
            " until the initial rebalance delay is over."
        ),
        reason=(
            "Its InitialDelayedJoin cannot be completed early. Both are within the protocol: the delay is an upper"
            " bound. The model follows the Java coordinator."
        ),
        examples=(_schedule("v1/eager?members=2&partitions=1&generations=1&member_id_required/0.3.2.0.0.0.0.0.0"),),
        concerns=lambda release: release.scala,
        recognises=_stays_in_the_initial_rebalance,
    ),
    KnownDifference(
        name="a SyncGroup at a coordinator that is loading is answered REBALANCE_IN_PROGRESS",
        subjects="3.9.2 (Scala)",
        source="kafka.coordinator.group.GroupCoordinator",
        what=(
            "While the coordinator reads its log, the one in Scala answers a SyncGroup with REBALANCE_IN_PROGRESS, the"
            " Java coordinators with COORDINATOR_LOAD_IN_PROGRESS."
        ),
        reason=(
            "Scala's is what clients can do with: they join again. The other is not among the errors that Kafka's own"
            " client expects of a SyncGroup, and is thrown out of poll; the application that polls on joins again, too."
            " The model follows the Java coordinator."
        ),
        examples=(
            _schedule(
                "v1/eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1/0.0.1.0.0"
            ),
        ),
        concerns=lambda release: release.scala,
        recognises=_answers_with_a_rebalance_while_loading,
    ),
    KnownDifference(
        name="the leave of an id that was never used does not rebalance",
        subjects="3.9.2 (Scala)",
        source="kafka.coordinator.group.GroupCoordinator",
        what=(
            "A LeaveGroup gives back an id that was handed out (KIP-394) and not used, while the group has a"
            " generation: the Java coordinators begin a rebalance, the one in Scala does not."
        ),
        reason=(
            "Java's begins one for a whole batch of leaves if any of them succeeded. It costs a round of joins, and"
            " breaks nothing. The model follows the Java coordinator."
        ),
        examples=(
            _schedule(
                "v1/eager?members=2&partitions=1&generations=1&crashes=0&leaves=1&initial_delay=off&member_id_required&new_members"
                "/0.0.0.0.0.0.1.1.2.1"
            ),
        ),
        concerns=lambda release: release.scala,
        recognises=_goes_on_without_an_unused_id,
    ),
    KnownDifference(
        name="a group without a generation is not on record",
        subjects="3.9.2 (Scala)",
        source="kafka.coordinator.group.GroupCoordinator",
        what=(
            "A group that a JoinGroup created, and that had no generation yet, is forgotten by the coordinator in Scala"
            " when another takes over; of the Java coordinators it is an Empty group, which can be deleted, and refuses"
            " a commit with UNKNOWN_MEMBER_ID (Scala: ILLEGAL_GENERATION, as of any group that is not there)."
        ),
        reason=(
            "Scala writes a group with its first generation, Java when it is created. Nothing is lost with it. The"
            " model follows the Java coordinator."
        ),
        examples=(
            _schedule(
                "v1/eager?members=1&partitions=1&generations=2&crashes=0&deletions=1&initial_delay=off&member_id_required&failovers=1"
                "/0.0.2.1.1"
            ),
        ),
        concerns=lambda release: release.scala,
        recognises=_has_forgotten_the_empty_group,
    ),
)
