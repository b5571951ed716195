"""How fast virtual Kafka answers: one by one, batched, in stories and in walks, beside the coordinator in this process.

It needs a JDK and Kafka's jars (docs/virtual-kafka.md): ``python bench/virtual.py [virtual:3.9.2-scala]``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.messages import (
    CommittedOffset,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    OffsetCommitRequest,
    SyncAssignment,
    SyncGroupRequest,
)
from rebalance_check.impl.stories import InProcess, Played
from rebalance_check.integration.virtual import VirtualKafka, World, find_release
from rebalance_check.integration.virtual.codec import decoded, encoded
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator, member_ids_of
from rebalance_check.integration.virtual.differential import campaign
from rebalance_check.integration.virtual.guided import guided

REQUESTS = 20_000
BATCH = 500
SEEDS = range(1_000, 1_200)
AT_ONCE = {"initial_rebalance_delay_ms": 0}


def formed(coordinator: Played) -> str:
    """The member id of a Stable group of one."""
    join = JoinGroupRequest(
        group_id="g", version=3, client_id="py", session_timeout_ms=45_000, rebalance_timeout_ms=45_000, member_id="",
        protocol_type="consumer", protocols=(JoinProtocol("range", b"m"),),
    )  # fmt: skip
    answers = [*coordinator.handle(1, join, 0), *coordinator.advance(1)]
    reply = next(reply for _, reply in answers if isinstance(reply, JoinGroupReply))
    shares = (SyncAssignment(reply.member_id, b"A"),)
    coordinator.handle(2, SyncGroupRequest(group_id="g", generation_id=1, member_id=reply.member_id,
                                           assignments=shares), 1)  # fmt: skip
    return reply.member_id


def one_by_one(coordinator: Played, requests: Sequence[GroupRequest]) -> None:
    """Each is answered before the next one goes out."""
    for token, request in enumerate(requests, 3):
        coordinator.handle(token, request, 1)


def batched(world: World, requests: Sequence[GroupRequest]) -> None:
    """Many go out together, and their answers are read together."""
    for first in range(0, len(requests), BATCH):
        asked = {world.post(encoded(request)): request for request in requests[first : first + BATCH]}
        world.control("pending")
        for number, body in world.take_replies():
            assert body is not None
            decoded(asked[number], body)


def rate(work: Callable[[], object], count: int) -> float:
    """How many a second."""
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


def main(spec: str) -> None:
    """Measure, and print each figure with its ratio to the first."""
    config = GroupConfig(**AT_ONCE)
    ours = InProcess(config, new_member_id=member_ids_of(1))
    beats = [HeartbeatRequest(group_id="g", version=4, generation_id=1, member_id=formed(ours))] * REQUESTS
    base = rate(lambda: one_by_one(ours, beats), REQUESTS)
    print(f"{'heartbeats of the coordinator in this process':<60}{base:>10,.0f}/s")
    with VirtualKafka(find_release(spec)) as kafka:
        virtual = VirtualCoordinator(kafka, config, 1)
        member_id = formed(virtual)
        world = virtual.world
        beats = [HeartbeatRequest(group_id="g", version=4, generation_id=1, member_id=member_id)] * REQUESTS
        commits = [
            OffsetCommitRequest(group_id="g", version=9, generation_id=1, member_id=member_id,
                                offsets=(CommittedOffset("t", 0, offset),))
            for offset in range(REQUESTS)
        ]  # fmt: skip
        batched(world, beats)  # the JVM warms up
        for what, work in (
            ("heartbeats one by one", lambda: one_by_one(virtual, beats)),
            ("commits one by one, no two alike", lambda: one_by_one(virtual, commits)),
            ("heartbeats in batches", lambda: batched(world, beats)),
            ("other commits in batches, no two alike", lambda: batched(world, commits[::-1])),
        ):
            encoded.cache_clear()
            found = rate(work, REQUESTS)
            print(f"{f'{kafka.release.name}: {what}':<60}{found:>10,.0f}/s{found / base:>8.2f}")
        told = campaign(kafka, SEEDS, names=["differential"])
        print(f"{told}\n{guided(kafka, SEEDS)}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "virtual:4.3.1")
