"""Scenarios of a group coordinator: requests in a fixed order, one line for each, and what was observed.

A line is ``command -> what was observed``. Members have names; a name without a member id sends an empty one. An
answer that comes late is told on the line that caused it. `COMMANDS` lists what a line may say. Whoever can be
`Played` can take the part of the coordinator. Random ones are drawn in `random_scenarios` and `wide_scenarios`; what they
hold any coordinator to stands in `promises`.
"""

from rebalance_check.impl.scenarios.commands import COMMANDS, perform
from rebalance_check.impl.scenarios.coordinator import InProcess, Played
from rebalance_check.impl.scenarios.parse import history_of, scenarios_in, tell
from rebalance_check.impl.scenarios.runner import Stage

__all__ = ["COMMANDS", "InProcess", "Played", "Stage", "history_of", "perform", "scenarios_in", "tell"]
