"""rebalance-check: prove, fuzz and replay group rebalancing until "exactly one owner" is a fact.

The library in three lines::

    from rebalance_check import judge, read_history

    judge(read_history("history.jsonl")).check()

raises the `Violation` of the first broken invariant, with its counterexample. Importing this package is cheap: what
needs an extra (exploring, Hypothesis, brokers, Spark) is imported by its own module only.
"""

from rebalance_check.model import events
from rebalance_check.model.errors import RebalanceCheckError
from rebalance_check.model.events import Event
from rebalance_check.properties.agreement import AssignmentIsComplete, AssignmentIsDisjoint, OneLeader, OneProtocol
from rebalance_check.properties.callbacks import CallbacksAlternate, EagerJoinsEmptyHanded
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.cooperative import RevokedBeforeReassigned
from rebalance_check.properties.fencing import LostIsNotCommitted, StaleGenerationIsRefused
from rebalance_check.properties.generation import GenerationMonotonicity
from rebalance_check.properties.history import HistoryWriter, MalformedHistory, read_history, write_history
from rebalance_check.properties.judge import Judge, Judgement, judge
from rebalance_check.properties.kinds import Fold, Invariant, Kind
from rebalance_check.properties.ownership import NoDoubleOwnership
from rebalance_check.properties.progress import RebalanceCompletes
from rebalance_check.properties.status.catalogue import SafeStatusWrites
from rebalance_check.properties.verdict import (
    Because,
    Counterexample,
    Held,
    Outcome,
    Undecided,
    Violated,
    Violation,
)

__all__ = [
    "CATALOGUE",
    "AssignmentIsComplete",
    "AssignmentIsDisjoint",
    "Because",
    "CallbacksAlternate",
    "Counterexample",
    "EagerJoinsEmptyHanded",
    "Event",
    "Fold",
    "GenerationMonotonicity",
    "Held",
    "HistoryWriter",
    "Invariant",
    "Judge",
    "Judgement",
    "Kind",
    "LostIsNotCommitted",
    "MalformedHistory",
    "NoDoubleOwnership",
    "OneLeader",
    "OneProtocol",
    "Outcome",
    "RebalanceCheckError",
    "RebalanceCompletes",
    "RevokedBeforeReassigned",
    "SafeStatusWrites",
    "StaleGenerationIsRefused",
    "Undecided",
    "Violated",
    "Violation",
    "events",
    "judge",
    "read_history",
    "select",
    "write_history",
]
