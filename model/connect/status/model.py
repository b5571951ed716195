"""The status store's log (``KafkaStatusBackingStore``): what safe writes guarantee, and the races they leave open.

Read in this order: `status.state` (the fields), `status.sending` and `status.store` (a store's actions),
`status.invariants` (claims), `status.races` (reachable states). Explored in all ways: which worker writes which
status when, and in which generation; how late each worker reads each key; which sends fail, before or after the append;
when the retry thread runs. Left out: statuses that the rules treat alike, two threads of one worker, a group whose
generations start again.
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.connect.status.invariants import SAFE_WRITES
from rebalance_check.model.connect.status.races import RACES
from rebalance_check.model.connect.status.state import Config, State, sizes
from rebalance_check.model.connect.status.store import STORE
from rebalance_check.model.vocabulary.bounds import Bounds


def configure(bounds: Bounds) -> Config:
    """The bounds as the model reads them."""
    return Config(
        members=bounds.members,
        keys=bounds.partitions,
        generations=bounds.generations,
        writes=bounds.writes,
        failures=bounds.failures,
        crashes=bounds.crashes,
        slots=max(bounds.writes, 1),
    )


def init(c: Config, s: State) -> None:
    """Empty logs, and every worker in the first generation."""
    for m in range(c.members):
        s.workers[m].generation = 1
    for key in range(c.keys):
        for o in range(c.writes + c.failures):
            s.logs[key].records[o].writer = NIL


def within_bounds(c: Config, s: State) -> bool:
    """Always true in a reachable state: every action that adds something has a budget in its guard."""
    return s.writes <= c.writes


MODEL: Final = Model.of(
    STORE,
    SAFE_WRITES,
    RACES,
    name="status",
    modules=(
        "rebalance_check.model.connect.status.state",
        "rebalance_check.model.connect.status.sending",
        "rebalance_check.model.connect.status.store",
        "rebalance_check.model.connect.status.invariants",
        "rebalance_check.model.connect.status.races",
        "rebalance_check.model.connect.status.model",
    ),
    state=State,
    sizes=sizes,
    configure=configure,
    init=init,
    within_bounds=within_bounds,
)
