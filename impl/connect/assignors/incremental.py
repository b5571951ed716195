"""The assignor of the leader of a Connect group since KIP-415 (``IncrementalCooperativeAssignor``).

Workers keep what they run. A round takes away deleted work, work that two workers claim, and a worker's surplus;
it places new work. Work that it took away is placed in the next round, when its earlier owner stopped it. Work
that was lost with a worker waits for that worker: up to ``scheduled.rebalance.max.delay.ms``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle
from typing import Final

from rebalance_check.impl.connect.assignors.balance import Work, place, surplus
from rebalance_check.impl.connect.assignors.memory import Memory, backoff_ms
from rebalance_check.impl.connect.assignors.round import (
    ITSELF,
    KINDS,
    Assigned,
    Item,
    Round,
    connectors_of,
    in_order,
    owners,
    tasks_of,
)
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment
from rebalance_check.impl.protocol.java_order import hash_map_order
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

DEFAULT_MAX_DELAY_MS: Final = 300_000
"""Kafka's default of ``scheduled.rebalance.max.delay.ms``."""

LATEST_RELEASE: Final = (4, 3)
OLDEST_RELEASE: Final = (3, 4)
"""The first release whose successive revocations wait (KAFKA-12495)."""

PLACES_AT_ONCE: Final = (3, 5)
"""The first release that places lost work at once where the maximum delay is 0."""

Claims = Mapping[str, tuple[Item, ...]]
"""The claim of each worker: connectors, then tasks, each once; workers in the order of Java's hash map."""


class IncrementalAssignor:
    """One worker's assignor, with the memory that counts while that worker leads.

    ``max_delay_ms`` is ``scheduled.rebalance.max.delay.ms``. ``release`` is the one of Kafka whose rules are followed:
    since 3.5 lost work is placed at once where that delay is 0, in 3.4 it is left until another round. Raises
    `RebalanceCheckError` for a negative delay, and for a release before 3.4.
    """

    def __init__(self, max_delay_ms: int = DEFAULT_MAX_DELAY_MS, release: tuple[int, int] = LATEST_RELEASE) -> None:
        if max_delay_ms < 0:
            raise RebalanceCheckError(
                f"scheduled.rebalance.max.delay.ms is {max_delay_ms}: choose 0 (no delay) or more milliseconds"
            )
        if release < OLDEST_RELEASE:
            raise RebalanceCheckError(
                f"the rules of Kafka {release[0]}.{release[1]} are not implemented: choose 3.4 or later"
            )
        self.max_delay_ms = max_delay_ms
        self.release = release
        self.memory = Memory()

    def assign(self, current: Round) -> Assigned:
        """Compute one round as the leader, and remember it."""
        claims = claims_of(current)
        found = sort_out(recall(self.memory, current, claims), current, claims)
        revoked = revoke_invalid(claims, found)
        work = {worker: _without(items, revoked[worker]) for worker, items in claims.items()}
        memory, again = handle_lost(self.memory, current, found.lost, work, self.max_delay_ms, release=self.release)
        memory, surrendered = revoke_for_balance(memory, current, work, self.max_delay_ms)
        for worker, items in surrendered.items():
            revoked[worker] += items
            work[worker] = _without(work[worker], items)
        place(work, [*in_order(found.created), *in_order(again)])
        self.memory = remember(memory, current, found.lost, work, revoked)
        kept = {worker: frozenset(items) - found.deleted for worker, items in claims.items()}
        return answer(current, work, kept, revoked, memory.delay_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The tasks of a round: everything is in at most one of the first three and the last."""

    deleted: frozenset[Item]
    lost: frozenset[Item]
    created: frozenset[Item]
    duplicated: frozenset[Item]


def claims_of(current: Round) -> dict[str, tuple[Item, ...]]:
    """Read the claims of all workers."""
    return {worker: _claim_of(current, worker) for worker in hash_map_order(current.members)}


def _claim_of(current: Round, worker: str) -> tuple[Item, ...]:
    claim = current.members[worker].allocation
    return tuple(dict.fromkeys(chain((Item(name, ITSELF) for name in claim.connectors), claim.tasks)))


def recall(memory: Memory, current: Round, claims: Claims) -> frozenset[Item]:
    """The assignment before, as far as it can be relied on.

    Nothing when the leader's last round was not completed. When a worker still runs work that was taken away, the
    revocation did not happen, and the present claims count.
    """
    active = frozenset(chain.from_iterable(claims.values()))
    if memory.previous_revocation & active:
        return active
    completed = memory.previous_generation == current.last_completed_generation
    return memory.previous_assignment if completed else frozenset()


def sort_out(previous: frozenset[Item], current: Round, claims: Claims) -> Found:
    """Compare assigned, configured and claimed work."""
    configured = current.configured
    claimants = Counter(chain.from_iterable(claims.values()))
    active = frozenset(claimants)
    deleted = previous - configured
    return Found(
        deleted=deleted,
        lost=previous - active - deleted,
        created=configured - previous - active,
        duplicated=frozenset(item for item, count in claimants.items() if count > 1),
    )


def revoke_invalid(claims: Claims, found: Found) -> dict[str, list[Item]]:
    """Take away deleted work, and work that several workers claim from all of them: it is new in the next round."""
    invalid = found.deleted | found.duplicated
    return {worker: [item for item in items if item in invalid] for worker, items in claims.items()}


def handle_lost(
    memory: Memory,
    current: Round,
    lost: frozenset[Item],
    work: Work,
    max_delay_ms: int,
    *,
    release: tuple[int, int] = LATEST_RELEASE,
) -> tuple[Memory, frozenset[Item]]:
    """Decide on the work that no worker claims any more: it is placed as new (the second result), it
    goes to the candidates in ``work``, or it waits.
    """
    now = current.now_ms
    if not lost and not memory.revoked_in_previous:
        memory = _without_delay(memory)
    elif memory.scheduled_rebalance_ms <= 0 and memory.previous_members <= current.members.keys():
        return memory, lost  # no worker has left
    elif max_delay_ms == 0 and release >= PLACES_AT_ONCE:
        return memory, lost
    elif 0 < memory.scheduled_rebalance_ms <= now:
        expired = replace(_without_delay(memory), revoked_in_previous=False)
        candidates = [one for one in memory.candidates if one in current.members]
        if not candidates:
            return expired, lost
        _deal(work, candidates, in_order(lost))
        memory = expired
    else:
        memory = _wait(memory, now, work, max_delay_ms)
    return memory, frozenset()


def _without_delay(memory: Memory) -> Memory:
    return replace(memory, candidates=(), scheduled_rebalance_ms=0, delay_ms=0)


def _deal(work: Work, candidates: Sequence[str], lost: Sequence[Item]) -> None:
    """Connectors, then tasks, each from the first candidate on, no matter how much those run already."""
    for of_kind in KINDS:
        for item, candidate in zip(filter(of_kind, lost), cycle(candidates), strict=False):
            work[candidate].append(item)


def _wait(memory: Memory, now_ms: int, work: Work, max_delay_ms: int) -> Memory:
    """Start the delay, or let the one that runs go on; every worker without work becomes a candidate."""
    idle = hash_map_order(worker for worker, items in work.items() if not items)
    remaining = memory.scheduled_rebalance_ms - now_ms
    delay = min(remaining, max_delay_ms) if remaining > 0 else max_delay_ms
    return replace(
        memory,
        candidates=tuple(dict.fromkeys((*memory.candidates, *idle))),
        delay_ms=delay,
        scheduled_rebalance_ms=now_ms + delay,
    )


def revoke_for_balance(
    memory: Memory, current: Round, work: Work, max_delay_ms: int
) -> tuple[Memory, Mapping[str, list[Item]]]:
    """Take work from those that have too much (the second result); never while lost work waits.

    When the round before revoked already, this one waits: a little longer each time (KAFKA-12495).
    """
    if memory.delay_ms != 0:
        return replace(memory, revoked_in_previous=False), {}
    wanted = surplus(work, current.configured)
    if not wanted:
        settled = replace(memory, revoked_in_previous=False, successive_revocations=0)
        return settled if memory.revoked_in_previous else memory, {}
    if not memory.revoked_in_previous:
        return replace(memory, revoked_in_previous=True), wanted
    successive = memory.successive_revocations + 1
    delay = backoff_ms(successive, max_delay_ms)
    if delay == 0:
        return replace(memory, successive_revocations=successive), wanted
    waiting = replace(
        memory, successive_revocations=successive, delay_ms=delay, scheduled_rebalance_ms=current.now_ms + delay
    )
    return waiting, {}


def remember(
    memory: Memory, current: Round, lost: frozenset[Item], work: Work, revoked: Mapping[str, Sequence[Item]]
) -> Memory:
    """The next round compares with this. Lost work counts as assigned, so that it is lost again then."""
    taken = frozenset(chain.from_iterable(revoked.values()))
    return replace(
        memory,
        previous_assignment=frozenset(chain.from_iterable(work.values())) - taken | lost,
        previous_revocation=taken,
        previous_generation=current.generation,
        previous_members=frozenset(current.members),
    )


def answer(
    current: Round,
    work: Mapping[str, Sequence[Item]],
    kept: Mapping[str, frozenset[Item]],
    revoked: Mapping[str, Sequence[Item]],
    delay_ms: int,
) -> Assigned:
    """An assignment for each worker: the work that it gets in addition to its own, and the work that it gives up."""
    assignments = {}
    for worker, items in work.items():
        added = [item for item in items if item not in kept[worker]]
        assignments[worker] = ConnectAssignment(
            version=current.version,
            leader=current.leader,
            leader_url=current.members[current.leader].url,
            config_offset=current.config_offset,
            connectors=connectors_of(added),
            tasks=tasks_of(added),
            revoked_connectors=connectors_of(revoked[worker]),
            revoked_tasks=tasks_of(revoked[worker]),
            delay_ms=delay_ms,
        )
    connector_owners, task_owners = owners({worker: _without(items, revoked[worker]) for worker, items in work.items()})
    return Assigned(assignments=assignments, connector_owners=connector_owners, task_owners=task_owners)


def _without(items: Iterable[Item], taken: Iterable[Item]) -> list[Item]:
    gone = frozenset(taken)
    return [item for item in items if item not in gone]
