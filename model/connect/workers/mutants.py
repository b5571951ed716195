"""Mutants of the model of a group of Connect workers."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds

_PACKAGE: Final = "rebalance_check.model.connect.workers."
_DISTURBANCES: Final = _PACKAGE + "disturbances"
_GROUP: Final = _PACKAGE + "group"
_HERDER: Final = _PACKAGE + "herder"
_ASSIGNORS: Final = _PACKAGE + "assignors"
_INCREMENTAL: Final = _PACKAGE + "incremental"

_EAGER: Final = Bounds.from_address("connect-eager?members=2&partitions=2&generations=3&crashes=0")
_JOINS: Final = Bounds.from_address(
    "connect-incremental?members=2&partitions=2&generations=4&crashes=0&config_changes=0"
)
_CONFIGS: Final = Bounds.from_address("connect-incremental?members=2&partitions=2&generations=4&crashes=0")
_CRASH: Final = Bounds.from_address("connect-incremental?members=2&partitions=2&generations=5&config_changes=0")
_REMOVAL: Final = Bounds.from_address(
    "connect-incremental?members=2&partitions=2&generations=4&crashes=0&expiries=1&config_changes=0"
)
_UPGRADE: Final = Bounds.from_address(
    "connect-eager?members=2&partitions=2&generations=8&crashes=0&config_changes=0"
    "&modes=eager-to-sessioned&rolling_restarts=2"
)

_SAFETY: Final = (
    ModelMutant(
        name="eager-worker-joins-with-its-work",
        what="an eager worker joins without stopping its work",
        edit=Edit(_GROUP, "== WorkerMode.EAGER and me.error == 0:", "== WorkerMode.EAGER and me.error == 2:"),
        caught_by="eager_worker_stops_before_joining",
        bounds=_EAGER,
    ),
    ModelMutant(
        name="cooperative-worker-stops-to-join",
        what="a cooperative worker stops its work before it joins",
        edit=Edit(
            _GROUP, "    if current_mode(c, s, m) == WorkerMode.EAGER and me.error == 0:", "    if me.error == 0:"
        ),
        caught_by="undisturbed_work_runs_on",
        bounds=_JOINS,
    ),
    ModelMutant(
        name="assignment-replaces-cooperative-claim",
        what="a cooperative worker claims only what the last round gave it",
        edit=Edit(_GROUP, "me.claim = me.given | (me.claim & ~me.taken)", "me.claim = me.given"),
        caught_by="running_work_is_claimed",
        bounds=_JOINS,
    ),
    ModelMutant(
        name="revoked-work-runs-on",
        what="a cooperative worker takes over its assignment before it has stopped what is revoked",
        edit=Edit(_GROUP, "me.running &= ~me.taken", "me.running &= ~me.given"),
        caught_by="revoked_work_has_stopped",
        bounds=_JOINS,
    ),
    ModelMutant(
        name="restarted-worker-claims-old-work",
        what="a worker that died and returns claims what it ran before",
        edit=Edit(
            _GROUP,
            "        s.workers[m].claim = 0\n        s.workers[m].sent = 0\n        s.workers[m].given = 0",
            "        s.workers[m].sent = 0\n        s.workers[m].given = 0",
        ),
        caught_by="claims_are_disjoint",
        bounds=_CRASH,
    ),
    ModelMutant(
        name="assignment-names-another-leader",
        what="each worker takes itself for the leader of the generation",
        edit=Edit(_GROUP, "    me.leader = s.leader", "    me.leader = m"),
        caught_by="connect_assignment_is_agreed",
        bounds=_JOINS,
    ),
    ModelMutant(
        name="operator-does-not-wait",
        what="workers are restarted with the next mode while others are not in the group",
        edit=Edit(_DISTURBANCES, "    if c.waits == 1 and (", "    if c.waits == 2 and ("),
        caught_by="work_runs_once",
        bounds=_UPGRADE,
    ),
    ModelMutant(
        name="work-starts-on-newer-configs",
        what="a worker that has read further than the leader starts its work nevertheless",
        edit=Edit(_HERDER, "    if me.offset != me.assigned_offset:", "    if me.offset < me.assigned_offset:"),
        caught_by="start_waits_for_configs",
        bounds=_CONFIGS,
    ),
    ModelMutant(
        name="revocation-without-rejoin",
        what="a worker from which work was revoked does not join again",
        edit=Edit(_HERDER, "    me.rejoin = me.follow_up", "    me.rejoin = 0"),
        caught_by="revocation_leads_to_rejoin",
        bounds=_JOINS,
    ),
    ModelMutant(
        name="leader-assigns-by-its-own-configs",
        what="the leader ignores that members have read further configs",
        edit=Edit(_ASSIGNORS, "    s.offset = highest_offset(c, s)", "    s.offset = me.sent"),
        caught_by="config_offset_covers_members",
        bounds=_CONFIGS,
    ),
    ModelMutant(
        name="mismatch-is-assigned",
        what="the leader assigns work by old configs together with CONFIG_MISMATCH",
        edit=Edit(_ASSIGNORS, "            s.error = 1\n            return True\n", "            s.error = 1\n"),
        caught_by="config_mismatch_assigns_nothing",
        bounds=_CONFIGS,
    ),
    ModelMutant(
        name="eager-iterator-restarts",
        what="the eager assignor gives every item to the first member",
        edit=Edit(
            _ASSIGNORS,
            ".given |= 1 << x\n            place = (place + 1) % c.members",
            ".given |= 1 << x\n            place = 0",
        ),
        caught_by="eager_round_covers_all",
        bounds=_EAGER,
    ),
    ModelMutant(
        name="created-ignores-claims",
        what="a leader without memory assigns what members claim",
        edit=Edit(_INCREMENTAL, "configured & ~memory.previous & ~active", "configured & ~memory.previous"),
        caught_by="claimed_work_is_not_granted",
        bounds=_CONFIGS,
    ),
    ModelMutant(
        name="duplicated-work-is-kept",
        what="what two workers claim is not revoked",
        edit=Edit(_INCREMENTAL, "claim & (deleted | duplicated)", "claim & deleted"),
        caught_by="duplicated_work_is_revoked",
        bounds=_REMOVAL,
        catalogue="connect-duplicates-not-revoked",
    ),
    ModelMutant(
        name="lost-work-does-not-wait",
        what="the work of a departed worker is assigned at once",
        edit=Edit(
            _INCREMENTAL,
            "    if memory.schedule == Schedule.NONE and memory.departed == 0:",
            "    if memory.schedule == Schedule.NONE:",
        ),
        caught_by="delay_is_honoured",
        bounds=_CRASH,
    ),
    ModelMutant(
        name="delay-does-not-stop-balancing",
        what="work is moved for balance while a delay runs",
        edit=Edit(
            _INCREMENTAL,
            "        memory.revoking = 0\n        return\n",
            "        memory.revoking = 0\n",
        ),
        caught_by="delay_forbids_balancing",
        bounds=Bounds.from_address(
            "connect-incremental?members=2&partitions=2&generations=4&crashes=0&leaves=1&config_changes=0"
        ),
    ),
    ModelMutant(
        name="lost-work-is-dealt-and-placed",
        what="after the delay lost work goes to a candidate and, as if it were new, to another worker",
        edit=Edit(
            _INCREMENTAL,
            "            at = (at + 1) % c.members\n    return 0",
            "            at = (at + 1) % c.members\n    return lost",
        ),
        caught_by="work_is_granted_once",
        bounds=_CRASH,
    ),
    ModelMutant(
        name="delay-is-not-announced",
        what="the leader schedules a rebalance, and its answer has no delay",
        edit=Edit(_INCREMENTAL, "    s.delayed = 1 if memory.schedule != Schedule.NONE else 0", "    s.delayed = 0"),
        caught_by="delay_is_scheduled",
        bounds=_CRASH,
    ),
)

WORKER_LIVENESS_MUTANTS: Final = (
    ModelMutant(
        name="worker-always-joins-again",
        what="a worker joins again after it has started its work",
        edit=Edit(_HERDER, "    me.rejoin = me.follow_up", "    me.rejoin = 1"),
        caught_by="rebalances_end",
        bounds=_JOINS,
        liveness=True,
    ),
    ModelMutant(
        name="revocations-are-forgotten",
        what="a worker does not notice that its assignment carries revocations, so no other worker gets that work",
        edit=Edit(_GROUP, "me.follow_up = 1 if me.taken != 0 else 0", "me.follow_up = 0"),
        caught_by="every_item_gets_one_runner",
        bounds=_JOINS,
        liveness=True,
    ),
    ModelMutant(
        name="config-change-asks-for-no-rebalance",
        what="a worker that reads that work was created or deleted asks for no rebalance",
        edit=Edit(_HERDER, "    me.offset += 1\n    me.stale = 1", "    me.offset += 1\n    me.stale = 0"),
        caught_by="deleted_work_ends",
        bounds=_EAGER,
        liveness=True,
    ),
    ModelMutant(
        name="delay-never-passes",
        what="the clock of the leader does not reach its scheduled rebalance",
        edit=Edit(_HERDER, "    if memory.schedule != Schedule.RUNNING:", "    if memory.schedule != Schedule.PASSED:"),
        caught_by="delays_end",
        bounds=_CRASH,
        liveness=True,
    ),
    ModelMutant(
        name="config-log-stops-with-the-work",
        what="a worker that has started its work reads no configs any more",
        edit=Edit(
            _HERDER,
            "    if me.step == Step.DOWN or me.offset >= s.end:",
            "    if me.step == Step.DOWN or me.offset >= s.end or me.resolved == 1:",
        ),
        caught_by="config_is_read",
        bounds=_EAGER,
        liveness=True,
    ),
)
"""They break no invariant: something that must happen does not."""

WORKER_MUTANTS: Final = (*_SAFETY, *WORKER_LIVENESS_MUTANTS)
