"""What client libraries are known to do against a claim, so that a run holds them to everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rebalance_check.integration.live.settings import ClientName
from rebalance_check.model.events import Event, MemberStarted
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Verdict


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A claim about single members that a client breaks, in which releases, and how. TRACK_RECORD.md has the command
    that shows it."""

    client: ClientName
    claim: str
    releases: str
    reason: str


KNOWN: Final = (
    KnownDifference(
        ClientName.KAFKA_PYTHON,
        "callbacks_alternate",
        "3.0.12",
        "on_partitions_revoked is called a second time for what was revoked already, when the join in between failed",
    ),
    KnownDifference(
        ClientName.AIOKAFKA,
        "reset_loses_all",
        "0.14.0",
        "it has no callback for what is lost: a zombie is told that its partitions are revoked",
    ),
)
"""Only claims that compare a member with itself may stand here: for them the client's members are left out of the
history, and what the others do is judged as ever."""


def judge_clients(history: Iterable[Event]) -> dict[Invariant, Verdict]:
    """The verdicts on the whole catalogue; each known difference is passed over for the members of its client alone."""
    events = list(history)
    verdicts: dict[Invariant, Verdict] = {}
    for invariant in CATALOGUE:
        excused = {known.client for known in KNOWN if known.claim == invariant.name}
        verdicts |= judge(_without(events, excused) if excused else events, [invariant]).verdicts
    return verdicts


def _without(events: list[Event], clients: set[ClientName]) -> Iterator[Event]:
    """The history as if the members of these clients had not been seen at all."""
    left_out = {event.member for event in events if isinstance(event, MemberStarted) and event.client in clients}
    for event in events:
        if event.source not in left_out:
            yield event
