"""The tasks of one exactly-once source (KIP-618) as a model: who may write while workers and configs change.

Read in this order: `exactly_once.state` (the fields), `exactly_once.leader` (commits and fencing),
`exactly_once.tasks` (how a task starts), `exactly_once.invariants` (claims). Explored in all ways: which
commits there are, where tasks go, which live workers are removed and when they learn of it, when a leader is
replaced, and how late each worker reads. Left out: failures of brokers, restarts of failed tasks, sinks.
"""

from typing import Final

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.connect.exactly_once.invariants import CLAIMS
from rebalance_check.model.connect.exactly_once.leader import LEADER
from rebalance_check.model.connect.exactly_once.state import Config, State, configure, sizes
from rebalance_check.model.connect.exactly_once.tasks import TASKS

_PACKAGE: Final = "rebalance_check.model.connect.exactly_once."


def init(s: State) -> None:
    """No configs; the first worker leads."""
    reset(s)
    s.leader = 0


def within_bounds(c: Config, s: State) -> bool:
    """Always true in a reachable state: commits have a budget in their guard."""
    return s.commits <= c.writes


MODEL: Final = Model.of(
    LEADER,
    TASKS,
    CLAIMS,
    name="connect-exactly-once",
    modules=tuple(_PACKAGE + file for file in ("state", "leader", "tasks", "invariants", "model")),
    state=State,
    sizes=sizes,
    configure=configure,
    init=init,
    within_bounds=within_bounds,
)
