"""The claims of ownership that a sticky assignor believes (``AbstractStickyAssignor.allSubscriptionsEqual``; KIP-792).

Every member's claim has a generation. Of several claimants of one partition the one of the highest
generation is believed; if two share it, none is, because one of them is wrong and it is unknown which.

Kafka's own code differs where it is known to be wrong or to depend on hash order: there a partition that no longer
exists is assigned again, two claims of an old generation can strip a newer one, and members with an empty
subscription may be given partitions. None of that is repeated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.ids import NO_GENERATION


class Claim(NamedTuple):
    """The partitions that one member says it owns, and in which generation (-1: it does not say)."""

    partitions: tuple[TopicPartition, ...]
    generation: int


@dataclass(slots=True)
class Ownership:
    """The believed owners.

    ``owned`` has an entry for every member; ``disputed`` are partitions claimed twice in one generation; ``earlier``
    maps a partition to the newest claimant that missed the group's last generation, where there is one: its owner, if
    no other member took the partition since.
    """

    owned: dict[str, list[TopicPartition]]
    disputed: set[TopicPartition] = field(default_factory=set)
    earlier: dict[TopicPartition, str] = field(default_factory=dict)


def believed(claims: Mapping[str, Claim], existing: Mapping[str, int]) -> Ownership:
    """Settle the claims. ``existing`` are the partition counts of the topics that are being assigned."""
    ownership = Ownership({member: [] for member in claims})
    last = max((claim.generation for claim in claims.values()), default=NO_GENERATION)
    for partition, claimants in sorted(_claimants(claims, existing).items()):
        _settle(ownership, partition, claimants)
        missed = next((member for generation, member in claimants if generation < last), None)
        if missed is not None:
            ownership.earlier[partition] = missed
    return ownership


def _claimants(claims: Mapping[str, Claim], existing: Mapping[str, int]) -> dict[TopicPartition, list[tuple[int, str]]]:
    """The claimants of each existing partition, as (generation, member), the newest generation first, then by id."""
    found: dict[TopicPartition, list[tuple[int, str]]] = {}
    for member, claim in claims.items():
        for partition in _existing(claim.partitions, existing):
            found.setdefault(partition, []).append((claim.generation, member))
    return {partition: sorted(who, key=lambda one: (-one[0], one[1])) for partition, who in found.items()}


def _existing(partitions: Iterable[TopicPartition], counts: Mapping[str, int]) -> set[TopicPartition]:
    return {tp for tp in partitions if 0 <= tp.partition < counts.get(tp.topic, 0)}


def _settle(ownership: Ownership, partition: TopicPartition, claimants: list[tuple[int, str]]) -> None:
    highest = claimants[0][0]
    newest = [member for generation, member in claimants if generation == highest]
    if len(newest) > 1:
        ownership.disputed.add(partition)
    else:
        ownership.owned[newest[0]].append(partition)
