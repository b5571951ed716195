"""Mutants of a herder's queue, of what workers ask their leader for, and of session keys."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions

_CONNECT: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.CONNECT), first=0, last=150)


def _mutant(name: str, what: str, caught_by: str) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=_CONNECT)


HERDER_QUEUE_MUTANTS: Final = [
    _mutant(
        "retries-do-not-wait",
        "a herder serves what it queued for later at once",
        "herder_queues_are_in_order",
    ),
    _mutant(
        "retries-sleep-on",
        "a herder that waits for nothing serves what it queued for later when something else wakes it",
        "due_requests_are_served",
    ),
    _mutant(
        "follower-does-not-answer",
        "a worker that does not lead does not answer a request of another worker",
        "served_requests_are_answered_once",
    ),
    _mutant(
        "refused-signatures-are-not-answered",
        "a worker does not answer a request of another worker that is not signed as it must be",
        "served_requests_are_answered_once",
    ),
    _mutant(
        "written-task-configs-are-sent-again",
        "a worker sends task configs again that its leader has written",
        "reconfigurations_are_retried",
    ),
    _mutant(
        "retries-wait-twice-as-long",
        "a worker waits half a second, and not a quarter, before it sends task configs again",
        "reconfigurations_are_retried",
    ),
    _mutant(
        "leader-without-a-group-asks-itself",
        "a worker that led until its group rebalanced sends a request to itself",
        "leaders_are_asked",
    ),
    _mutant(
        "session-keys-in-every-group",
        "a leading worker writes session keys whatever the protocol of its group",
        "session_keys_are_renewed_in_time",
    ),
    _mutant(
        "session-keys-expire-unseen",
        "a leading worker writes another session key when something else wakes it",
        "session_keys_are_renewed_in_time",
    ),
    _mutant(
        "what-runs-has-a-trace",
        "every status has a trace, whether something failed or not",
        "safe_status_writes.sent_records_say_so",
    ),
]
"""In the order of the claims that they break."""
