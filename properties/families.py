"""The families of invariants, by the question that each answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

QUESTIONS: Final[Mapping[str, str]] = {
    "ownership": "Who owns a partition, a connector or a task?",
    "assignment": "Does a leader compute an assignment that may be given out?",
    "members": "Does a member keep its own record: joins, callbacks, partitions, commits?",
    "requests": "Does a client send the requests that its state allows, and those that it demands?",
    "coordinator": "Does a coordinator answer and refuse as the protocol says?",
    "generation": "Is a generation one thing to all: its number, leader, members, protocol, assignment?",
    "persistence": "Does the record survive, and come back unchanged?",
    "deadlines": "Does everything end in time, and not before?",
    "causes": "Does each rebalance, join, removal and loss have a cause?",
    "status": "Do statuses tell the truth about connectors and tasks, and do all readers see the same?",
    "config": "Do config records reach each worker, in order and unchanged?",
    "connect": "Do workers run their assignment, and nothing else?",
}
"""In the order in which reports name them."""
