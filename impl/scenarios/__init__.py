"""Scenarios of a group coordinator: requests in a fixed order, one line for each, and the expected answer to each.

A line is ``verb words options -> answer``. Members have names; a name without a member id sends an empty one. The reply
to an earlier request stands on the line that caused it. `COORDINATOR_LANGUAGE` has the verbs; ``docs/scenarios.md``
lists them. Any `SteeredCoordinator` can be the coordinator. Random scenarios are made in `random_scenarios` and
`random_scenarios_wide`; `recorded` turns their steps into events, which the catalogue of invariants judges.
"""

from rebalance_check.impl.scenarios.commands import COORDINATOR_LANGUAGE, perform
from rebalance_check.impl.scenarios.document import Scenario, ScenarioLine, rewritten, scenarios_in
from rebalance_check.impl.scenarios.parse import answers_to, history_of
from rebalance_check.impl.scenarios.runner import ScenarioRunner
from rebalance_check.impl.scenarios.verbs import Language, Options

__all__ = [
    "COORDINATOR_LANGUAGE",
    "Language",
    "Options",
    "Scenario",
    "ScenarioLine",
    "ScenarioRunner",
    "answers_to",
    "history_of",
    "perform",
    "rewritten",
    "scenarios_in",
]
