"""Mutants of the model of exactly-once sources."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds

_PACKAGE: Final = "rebalance_check.model.connect.exactly_once."
_LEADER: Final = _PACKAGE + "leader"
_TASKS: Final = _PACKAGE + "tasks"

_LAGGING: Final = Bounds.from_address("connect-exactly-once?members=2&partitions=2&writes=2&expiries=0")
_REMOVED: Final = Bounds.from_address("connect-exactly-once?members=2&partitions=1&writes=2&expiries=1")

EXACTLY_ONCE_MUTANTS: Final = (
    ModelMutant(
        name="equal-counts-need-no-fencing",
        what="the leader fences nothing where the new task configs are as many as the earlier ones",
        edit=Edit(_LEADER, "(s.recorded_count == 1 and s.count == 1)", "(s.recorded_count == s.count)"),
        caught_by="record_follows_fencing",
        bounds=_LAGGING,
    ),
    ModelMutant(
        name="tasks-start-while-fencing",
        what="the leader answers a request to fence before the brokers have fenced",
        edit=Edit(
            _LEADER,
            "        s.fencing = Fencing.BEGUN\n",
            "        s.fencing = Fencing.BEGUN\n        answer_all(c, s, Phase.MAY_INITIALISE)\n",
        ),
        caught_by="fenced_before_start",
        bounds=_LAGGING,
    ),
    ModelMutant(
        name="new-producer-fences-no-other",
        what="a producer with a transactional id that is in use leaves the earlier one able to write",
        edit=Edit(
            _TASKS,
            "        s.workers[w].unfenced[k] = 0\n    s.workers[m].phase",
            "        pass\n    s.workers[m].phase",
        ),
        caught_by="task_has_one_producer",
        bounds=_REMOVED,
    ),
    ModelMutant(
        name="fenced-task-initialises-again",
        what="a task initialises its producer once more when it is verified, and so outlives its fencing",
        edit=Edit(
            _TASKS,
            "        me.phase[k] = Phase.RUNNING\n",
            "        me.phase[k] = Phase.RUNNING\n        me.unfenced[k] = 1\n",
        ),
        caught_by="fenced_producer_stays_fenced",
        bounds=_REMOVED,
    ),
    ModelMutant(
        name="start-is-not-verified",
        what="a task that has its producer starts without a look at the end of the config topic",
        edit=Edit(_TASKS, "me.generation[k] == s.commits", "me.generation[k] <= s.commits"),
        caught_by="last_configs_start",
        bounds=_REMOVED,
    ),
    ModelMutant(
        name="requests-wait-for-a-lost-leader",
        what="a round of fencing whose leader was replaced is never answered",
        edit=Edit(
            _LEADER,
            "    s.leader = m\n    s.fencing = Fencing.NONE\n    answer_all(c, s, Phase.FAILED)\n",
            "    s.leader = m\n    s.fencing = 3\n",
        ),
        caught_by="starts_end",
        bounds=_REMOVED,
        liveness=True,
    ),
)
