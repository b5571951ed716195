"""How fast the reference coordinator answers: rebalances and heartbeats per second, without a network.

Run it with the number of members: ``python bench/coordinator.py 10``.
"""

from __future__ import annotations

import sys
import time
from itertools import count

from rebalance_check.impl.coordinator import GroupConfig, GroupCoordinator
from rebalance_check.impl.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinProtocol,
    SyncAssignment,
    SyncGroupRequest,
)

SECONDS = 2.0


def join(member_id: str, metadata: bytes) -> JoinGroupRequest:
    """A JoinGroup v3: a new member is admitted at once."""
    return JoinGroupRequest(
        group_id="bench",
        version=3,
        client_id="bench",
        session_timeout_ms=45_000,
        rebalance_timeout_ms=300_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=(JoinProtocol("range", metadata),),
    )


def formed(members: int) -> tuple[GroupCoordinator, list[str]]:
    """A Stable group in generation 1, and its member ids, the leader's first."""
    numbers = count()
    coordinator = GroupCoordinator(GroupConfig(), new_member_id=lambda prefix: f"{prefix}-{next(numbers)}")
    for number in range(members):
        coordinator.handle(number, join("", b"0"), 0)
    while coordinator.inspect("bench").generation == 0:  # type: ignore[union-attr]  # the group is there
        coordinator.advance(coordinator.next_deadline() or 0)
    ids = [f"bench-{number}" for number in range(members)]
    sync_all(coordinator, ids, 1)
    return coordinator, ids


def sync_all(coordinator: GroupCoordinator, ids: list[str], generation: int) -> None:
    """Everyone syncs, the leader last."""
    shares = tuple(SyncAssignment(member_id, b"share") for member_id in ids)
    for member_id in [*ids[1:], ids[0]]:
        request = SyncGroupRequest(
            group_id="bench", version=3, generation_id=generation, member_id=member_id, assignments=shares
        )
        coordinator.handle(member_id, request, 0)


def rebalances_per_second(members: int) -> tuple[float, float]:
    """Rebalances of a whole group, and the requests that they take, per second."""
    coordinator, ids = formed(members)
    start, generation = time.perf_counter(), 1
    while time.perf_counter() - start < SECONDS:
        generation += 1
        for member_id in ids:
            coordinator.handle(member_id, join(member_id, str(generation).encode()), 0)
        sync_all(coordinator, ids, generation)
    elapsed = time.perf_counter() - start
    return (generation - 1) / elapsed, (generation - 1) * 2 * members / elapsed


def heartbeats_per_second(members: int) -> float:
    """Heartbeats of a Stable group per second."""
    coordinator, ids = formed(members)
    requests = [HeartbeatRequest(group_id="bench", generation_id=1, member_id=member_id) for member_id in ids]
    start, rounds = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        rounds += 1
        for request in requests:
            coordinator.handle(0, request, rounds)
    return rounds * members / (time.perf_counter() - start)


def main() -> None:
    """Print one line of figures."""
    members = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    rebalances, requests = rebalances_per_second(members)
    heartbeats = heartbeats_per_second(members)
    print(f"{members} members: {heartbeats:,.0f} heartbeats/s")
    print(f"{members} members: {rebalances:,.0f} rebalances/s, {requests:,.0f} requests/s")


if __name__ == "__main__":
    main()
