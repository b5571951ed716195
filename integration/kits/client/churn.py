"""Scenarios that treat processes and topics as an operator, a scheduler or a crash does."""

from __future__ import annotations

from typing import Final

from rebalance_check.integration.kits.client.stepping import Steps
from rebalance_check.integration.kits.client.steps import end_all, gather, join, leave, settle, without
from rebalance_check.integration.kits.client.trial import Trial

METADATA_S: Final = 30.0
"""How long a scenario waits for a client to notice new partitions: its metadata may be older than that, by choice."""

FENCED: Final = "FENCED_INSTANCE_ID"


def members_join(trial: Trial) -> Steps:
    """Members join one after the other, one more joins, one leaves, and all end."""
    for name in (*trial.names, trial.extra):
        yield from join(trial, name)
    yield from leave(trial, trial.random.choice(trial.names))
    yield from end_all(trial)


def member_is_killed(trial: Trial) -> Steps:
    """One is killed, its session expires, and it is started again."""
    yield from gather(trial)
    victim, generation = trial.random.choice(trial.names), trial.view.generation
    trial.kill(victim)
    yield from without(trial, generation)
    yield from join(trial, victim)
    yield from end_all(trial)


def member_is_paused(trial: Trial) -> Steps:
    """One is paused until its session has expired and the others go on without it, and then runs on."""
    yield from gather(trial)
    victim, generation = trial.random.choice(trial.names), trial.view.generation
    others = tuple(name for name in trial.names if name != victim)
    trial.pause(victim)
    yield from without(trial, generation, others)
    trial.resume(victim)
    yield from settle(trial)
    yield from end_all(trial)


def static_members_restart(trial: Trial) -> Steps:
    """The leader ends and comes back within its session, then a follower is killed and does; an instance id is taken.

    A leader that comes back to an unchanged group must not assign anew (KIP-814).
    """
    yield from gather(trial)
    leader = trial.view.leader(trial.names)
    trial.terminate(leader)
    yield from trial.await_end(leader)
    yield from join(trial, leader)
    follower = trial.random.choice([name for name in trial.names if name != leader])
    trial.kill(follower)
    yield from join(trial, follower)
    yield from _instance_id_is_taken(trial, trial.random.choice(trial.names))
    yield from end_all(trial)


def _instance_id_is_taken(trial: Trial, victim: str) -> Steps:
    """One more process joins with the instance id of ``victim``, which is fenced, and has a session's time to stop.

    A victim that goes on takes its place back, and fences the other.
    """
    view = trial.view.of(victim)
    trial.allow_to_end(victim, trial.extra)
    trial.start(trial.extra, like=victim)
    yield from trial.hope(lambda: FENCED in view.errors or view.ended, f"{victim} is fenced", trial.patience_s)
    yield from trial.hope(lambda: view.ended, f"{victim} ends", 1 + trial.view.session_timeout_ms / 1000)
    if not view.ended:
        trial.terminate(victim)
        yield from trial.await_end(victim)
    yield from settle(trial)


def partitions_are_added(trial: Trial) -> Steps:
    """The topic grows while the members run."""
    yield from gather(trial)
    added = trial.add_partitions()
    noticed = trial.hope(lambda: added <= trial.view.assigned(), "the new partitions are assigned", METADATA_S)
    if (yield from noticed):
        yield from settle(trial)
    yield from end_all(trial)
