"""The engines: eight kinds of rules about a history. Each invariant is a declaration over one of them.

| engine | says |
|---|---|
| `form` | an event fits its own fields, and the state that earlier events put its subject in |
| `agreement` | for one key, all observers name one value |
| `order` | along one sequence, each value follows the one before it |
| `cause` | every effect has one of its causes since the last one |
| `deadline` | an obligation that began ends in time |
| `ownership` | who holds a thing, since when, in which generation, by which right |
| `completion` | at rest, all is as the inputs demand |
| `scenario` | a step of a scenario leaves the group, and answers, as it may |

An engine is a function that returns the ``fold`` of an `Invariant`. Rules are plain functions: they take an event and
the views that the engine was given, and return `CHECKED`, `Excused`, `broken`, several of them, or None where they have
nothing to say.
"""

from rebalance_check.properties.engines.agreement import Fact, agreement
from rebalance_check.properties.engines.cause import Effect, cause
from rebalance_check.properties.engines.completion import completion
from rebalance_check.properties.engines.deadline import Due, deadline, eventually
from rebalance_check.properties.engines.form import form
from rebalance_check.properties.engines.order import ALL, Step, order
from rebalance_check.properties.engines.ownership import ownership
from rebalance_check.properties.engines.rules import CHECKED, Broken, Excused, Finding, Findings, OfApis, broken
from rebalance_check.properties.engines.scenario import broken_step, scenario

__all__ = [
    "ALL",
    "CHECKED",
    "Broken",
    "Due",
    "Effect",
    "Excused",
    "Fact",
    "Finding",
    "Findings",
    "OfApis",
    "Step",
    "agreement",
    "broken",
    "broken_step",
    "cause",
    "completion",
    "deadline",
    "eventually",
    "form",
    "order",
    "ownership",
    "scenario",
]
