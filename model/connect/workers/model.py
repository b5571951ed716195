"""A group of Connect workers, eager and cooperative, as one model (``WorkerCoordinator``, ``DistributedHerder``).

Read in this order: `workers.state` (the fields), `workers.group` (joining, syncing), `workers.disturbances`,
`workers.incremental` and `workers.assignors` (a round), `workers.herder` (configs, start of work, delays), then what
must hold. Explored in all ways: the order of everything, the leader that follows another, in which order an assignor
takes the workers, when a delay passes. Left out: the difference between connectors and tasks, which are balanced apart;
tasks that outlive their stop timeout; config topics that cannot be read; a worker that returns while its old session
goes on; how long a delay is.
"""

from typing import Final

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.connect.workers.assignors import ASSIGNORS
from rebalance_check.model.connect.workers.disturbances import DISTURBANCES
from rebalance_check.model.connect.workers.group import GROUP
from rebalance_check.model.connect.workers.herder import HERDER
from rebalance_check.model.connect.workers.invariants import INVARIANTS
from rebalance_check.model.connect.workers.liveness import LIVENESS
from rebalance_check.model.connect.workers.reachable import REACHABLE
from rebalance_check.model.connect.workers.state import Config, State, Step, configure, sizes
from rebalance_check.model.connect.workers.step_invariants import STEP_INVARIANTS

_PACKAGE: Final = "rebalance_check.model.connect.workers."
_FILES: Final = (
    "state", "group", "disturbances", "incremental", "assignors", "herder", "invariants", "step_invariants",
    "reachable", "liveness", "model",
)  # fmt: skip
"""The files, in the order of their imports."""


def init(c: Config, s: State) -> None:
    """Everything is configured, every worker has read it and is about to join."""
    reset(s)
    s.configs[0] = (1 << c.items) - 1
    for w in range(c.members):
        s.workers[w].step = Step.OUT
        if c.modes != 0:
            s.workers[w].current = c.path[0]


def within_bounds(c: Config, s: State) -> bool:
    """Generations beyond the bounds are not explored."""
    return s.generation <= c.generations


MODEL: Final = Model.of(
    GROUP,
    DISTURBANCES,
    ASSIGNORS,
    HERDER,
    INVARIANTS,
    STEP_INVARIANTS,
    REACHABLE,
    LIVENESS,
    name="connect-workers",
    modules=tuple(_PACKAGE + file for file in _FILES),
    state=State,
    sizes=sizes,
    configure=configure,
    init=init,
    within_bounds=within_bounds,
)
