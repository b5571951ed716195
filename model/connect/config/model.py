"""The config topic of Kafka Connect as a model: one connector, its tasks, writers, readers, the log cleaner.

Read in this order: `config.state` (the fields), `config.topic` (writing and compaction), `config.reader` (what a
worker makes of a record), `config.invariants` (claims), `config.reachable` (reachable states). Explored in all
ways: which calls are made, where a writer dies or is replaced, how late each worker reads, what the cleaner has
cleaned. Left out: target states, restart requests, session keys and fencing records, each folded alone; commits of no
task; records that do not convert.
"""

from typing import Final

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.connect.config.invariants import CLAIMS
from rebalance_check.model.connect.config.reachable import REACHABLE
from rebalance_check.model.connect.config.reader import READER
from rebalance_check.model.connect.config.state import Config, State, configure, sizes
from rebalance_check.model.connect.config.topic import TOPIC

_PACKAGE: Final = "rebalance_check.model.connect.config."


def init(s: State) -> None:
    """An empty topic; the first worker leads."""
    reset(s)
    s.leader = 0


def within_bounds(c: Config, s: State) -> bool:
    """Always true in a reachable state: every call has a budget in its guard."""
    return s.calls <= c.writes


MODEL: Final = Model.of(
    TOPIC,
    READER,
    CLAIMS,
    REACHABLE,
    name="connect-config",
    modules=tuple(_PACKAGE + file for file in ("state", "topic", "reader", "invariants", "reachable", "model")),
    state=State,
    sizes=sizes,
    configure=configure,
    init=init,
    within_bounds=within_bounds,
)
