"""The model's transitions on a broker: a row for each kind of action, from schedules that are replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rebalance_check.impl.comparison.to_model.action_kinds import COORDINATOR_STEPS
from rebalance_check.impl.comparison.to_model.answers import TOPIC
from rebalance_check.integration.comparison.to_model.replay import Replayed, replay
from rebalance_check.integration.comparison.to_model.schedules import walks
from rebalance_check.integration.kits.broker.target import Target
from rebalance_check.integration.kits.broker.topics import ensure_topic
from rebalance_check.integration.kits.report import KitRow
from rebalance_check.integration.wire.served import lacking
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.properties.verdict import Outcome

SECTION: Final = "transitions of the model"

WALKED: Final = (
    "eager?members=3&partitions=2&leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off",
    "cooperative?members=3&partitions=2&leaves=1&expiries=1&duplicates=1&initial_delay=off&member_id_required",
    "eager?members=2&partitions=1&crashes=1&commits=3&static_members=1&initial_delay=off",
)
"""Between them they have every kind of action that a socket can bring about."""

NEEDED: Final = ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "DescribeGroups", "DeleteGroups")
"""The apis that the schedules need, also to see the group's state."""

SCHEDULES: Final = 24
"""Walks within each of the bounds."""


def transition_rows(target: Target, progress: ProgressListener = ignore_progress) -> Iterator[KitRow]:
    """A row per kind of action: held where every reply was one that the model predicts."""
    if reason := lacking(target.broker.served, NEEDED):
        yield KitRow(section=SECTION, claim="every kind of action", outcome=Outcome.UNTESTED, detail=reason)
        return
    ensure_topic(target.broker, TOPIC, 2)
    replayed: list[Replayed] = []
    for number, address in enumerate(WALKED):
        folder = target.out / f"transitions-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        chosen = list(walks(Bounds.from_address(address), SCHEDULES, seed=target.seed))
        replayed += replay(target.broker, chosen, folder, keep_going=True, progress=progress).replayed
    taken = Counter(action.kind for each in replayed for action in before_the_difference(each))
    broken = first_differences(replayed)
    for kind in (kind for kind in ActionKind if kind in walked_kinds(replayed)):
        yield _broken(target, kind, broken[kind]) if kind in broken else _held(kind, taken[kind])
    yield _answered(target, replayed)


def walked_kinds(replayed: Sequence[Replayed]) -> frozenset[ActionKind]:
    """The kinds of action that the schedules have and a coordinator takes part in."""
    return COORDINATOR_STEPS & {action.kind for each in replayed for action in each.schedule.actions}


def before_the_difference(replayed: Replayed) -> Sequence[Action]:
    """The actions of a schedule that the broker answered as the model predicts."""
    if replayed.failure:
        return ()
    until = len(replayed.schedule.actions) if replayed.difference is None else len(replayed.difference.steps) - 1
    return replayed.schedule.actions[:until]


def first_differences(replayed: Sequence[Replayed]) -> dict[ActionKind, Replayed]:
    """For each kind of action at which the broker differs, the schedule that shows it soonest."""
    differing = [(each.difference, each) for each in replayed if each.difference is not None]
    found: dict[ActionKind, Replayed] = {}
    for difference, each in sorted(differing, key=lambda pair: len(pair[0].steps)):
        found.setdefault(difference.steps[-1].kind, each)
    return found


def _held(kind: ActionKind, checked: int) -> KitRow:
    if checked:
        return KitRow(section=SECTION, claim=str(kind), outcome=Outcome.HELD, checked=checked)
    detail = "every schedule that has it differed before"
    return KitRow(section=SECTION, claim=str(kind), outcome=Outcome.UNTESTED, detail=detail)


def _broken(target: Target, kind: ActionKind, replayed: Replayed) -> KitRow:
    assert replayed.difference is not None
    return KitRow(
        section=SECTION,
        claim=str(kind),
        outcome=Outcome.VIOLATED,
        checked=1,
        detail=str(replayed.difference),
        history=str(replayed.history),
        command=target.reproduces.schedule(replayed.schedule),
    )


def _answered(target: Target, replayed: Sequence[Replayed]) -> KitRow:
    """Whether the broker kept up every connection and answered every call of an administrator."""
    failed = [each for each in replayed if each.failure]
    claim = "every request is answered"
    if not failed:
        return KitRow(
            section=SECTION, claim=claim, outcome=Outcome.HELD, checked=sum(each.requests for each in replayed)
        )
    return KitRow(
        section=SECTION,
        claim=claim,
        outcome=Outcome.VIOLATED,
        checked=len(replayed),
        detail=f"{failed[0].failure} ({len(failed)} of {len(replayed)} schedules broke off)",
        history=str(failed[0].history) if failed[0].history.exists() else "",
        command=target.reproduces.schedule(failed[0].schedule),
    )
