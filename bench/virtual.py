"""How fast virtual Kafka answers: one by one, batched, in campaigns, next to the coordinator in this process.

It needs a JDK and Kafka's jars (docs/virtual-kafka.md): ``python bench/virtual.py [virtual:3.9.2-scala]``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from rebalance_check.impl.comparison.to_model.touring import tour_of_transitions
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.messages import (
    CommittedOffset,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncAssignment,
    SyncGroupRequest,
)
from rebalance_check.impl.steered.coordinator import SteeredCoordinator
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.integration.comparison.scenarios.campaign import campaign
from rebalance_check.integration.comparison.to_model.kafka import guided, virtual_coordinator
from rebalance_check.integration.virtual import VirtualEnvironment, VirtualKafka, find_release
from rebalance_check.integration.virtual.codec import decoded
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator, member_ids_of
from rebalance_check.integration.wire.templates import encoded, ordinary
from rebalance_check.model.vocabulary.bounds import Bounds

REQUESTS = 20_000
BATCH = 500
WARM_UP = 3
CONFORMED = "cooperative?members=2&partitions=2&generations=2&initial_delay=off"
SEEDS = range(1_000, 1_200)


def formed(coordinator: SteeredCoordinator) -> str:
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


def one_by_one(coordinator: SteeredCoordinator, requests: Sequence[GroupRequest]) -> None:
    """Each is answered before the next one goes out."""
    for token, request in enumerate(requests, 3):
        coordinator.handle(token, request, 1)


def batched(
    environment: VirtualEnvironment, requests: Sequence[GroupRequest], encode: Callable[[GroupRequest], bytes] = encoded
) -> None:
    """Many go out together; while they are answered, those before are read, and those after are written."""
    asked: dict[int, GroupRequest] = {}
    ends: list[int] = []
    for first in range(0, len(requests), BATCH):
        asked |= {environment.post(encode(request)): request for request in requests[first : first + BATCH]}
        ends.append(environment.post_control("pending"))
        environment.kafka.flush()
        if len(ends) > 1:
            read(environment, ends.pop(0), asked)
    read(environment, ends.pop(), asked)
    assert not asked


def read(environment: VirtualEnvironment, end: int, asked: dict[int, GroupRequest]) -> None:
    """Wait for the end of a batch, and decode the answers that have come."""
    environment.answer(end)
    for number, body in environment.take_replies():
        assert body is not None
        decoded(asked.pop(number), body)


def mixed(member_id: str, start: int) -> list[GroupRequest]:
    """Commits, fetches, heartbeats and syncs, no two alike; what was just committed is fetched."""
    found: list[GroupRequest] = []
    for number in range(start, start + REQUESTS // 4):
        offset = CommittedOffset("t", number % 2, number, f"note {number}")
        found += [
            OffsetCommitRequest(group_id="g", version=2 + number % 8, generation_id=1, member_id=member_id,
                                offsets=(offset,)),
            OffsetFetchRequest(group_id="g", version=1 + number % 9, partitions=((offset.topic, offset.partition),)),
            HeartbeatRequest(group_id="g", version=number % 5, client_id=f"c{number}", generation_id=1,
                             member_id=member_id),
            SyncGroupRequest(group_id="g", version=number % 5, client_id=f"c{number}", generation_id=1,
                             member_id=member_id),
        ]  # fmt: skip
    return found


def measured(what: str, work: Callable[[], object], count: int, base: float = 0.0) -> float:
    """Print how many a second, the ratio to ``base``, and the CPU time of this process for each; the rate."""
    started, cpu = time.perf_counter(), time.process_time()
    work()
    spent, elapsed = time.process_time() - cpu, time.perf_counter() - started
    found = count / elapsed
    ratio = f"{found / base:>8.2f}" if base else " " * 8
    print(f"{what:<72}{found:>10,.0f}/s{ratio}{1e6 * spent / count:>8.1f} us of CPU here")
    return found


def main(spec: str) -> None:
    """Measure, and print each figure with its ratio to the first."""
    config = GroupConfig(initial_rebalance_delay_ms=0)
    ours = InProcess(config, new_member_id=member_ids_of(1))
    beats = [HeartbeatRequest(group_id="g", version=4, generation_id=1, member_id=formed(ours))] * REQUESTS
    base = measured("heartbeats of the coordinator in this process", lambda: one_by_one(ours, beats), REQUESTS)
    with VirtualKafka(find_release(spec)) as kafka:
        virtual = VirtualCoordinator(kafka, config, 1)
        member_id = formed(virtual)
        environment = virtual.environment
        beats = [HeartbeatRequest(group_id="g", version=4, generation_id=1, member_id=member_id)] * REQUESTS
        for round_ in range(WARM_UP):
            batched(environment, mixed(member_id, round_ * REQUESTS))
        batched(environment, beats)
        print(f"{kafka.release.name}:")
        single, distinct = mixed(member_id, 10 * REQUESTS), mixed(member_id, 11 * REQUESTS)
        for what, work in (
            ("equal heartbeats one by one", lambda: one_by_one(virtual, beats)),
            ("mixed requests one by one, no two alike", lambda: one_by_one(virtual, single)),
            ("equal heartbeats in batches", lambda: batched(environment, beats)),
            ("mixed requests in batches, no two alike, from templates", lambda: batched(environment, distinct)),
            ("the same by the ordinary encoder", lambda: batched(environment, distinct[::-1], ordinary)),
        ):
            measured(what, work, REQUESTS, base)
        for compared in (campaign(kafka, SEEDS, names=["differential"]), guided(kafka, SEEDS)):
            speed = compared.counts["requests"] / compared.seconds
            print(f"{compared}; {compared.seconds:.1f} s ({speed:,.0f} requests/s)")
        began, before = time.monotonic(), kafka.requests
        toured = tour_of_transitions(virtual_coordinator(kafka), Bounds.from_address(CONFORMED))
        seconds = time.monotonic() - began
        print(f"{toured}; {seconds:.1f} s ({(kafka.requests - before) / seconds:,.0f} requests/s)")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "virtual:4.3.1")
