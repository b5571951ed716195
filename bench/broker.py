"""How the embedded broker stands random frames and long requests: frames/s, a client's wait, the longest turn.

Run it with the number of seeds, of 1,000 frames each: ``python bench/broker.py 5``.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.frame_fuzz.in_process import fuzz_in_process
from rebalance_check.integration.frame_fuzz.result import FrameRun
from rebalance_check.integration.frame_fuzz.sockets import fuzz_over_sockets
from rebalance_check.integration.frame_fuzz.turns import TurnWatch
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.decoder import MAX_ELEMENTS
from rebalance_check.integration.wire.kafka_python import admin, consumer, metadata

FRAMES = 1_000


def random_frames(name: str, run: Any, seeds: int) -> None:
    """Print the figures of so many seeds."""
    total = FrameRun()
    for seed in range(seeds):
        total.add(run(seed, FRAMES))
    speed, waits = total.frames / total.seconds, total.served_ms(0.99)
    print(f"{name:<12} {speed:8,.0f} frames/s, a client waits {waits:.1f} ms (99%), {len(total.findings)} findings")
    print(f"{'':<12} longest turn {total.longest_turn_ms:.1f} ms")


def long_requests() -> dict[str, tuple[Any, int]]:
    """Requests with as many elements as one may have."""
    names = [f"{number:x}" for number in range(MAX_ELEMENTS - 100)]
    topic, member = metadata.MetadataRequest.MetadataRequestTopic, consumer.LeaveGroupRequest.MemberIdentity
    leaving = [member(member_id=name) for name in names]
    return {
        "Metadata": (metadata.MetadataRequest(topics=[topic(name=name) for name in names]), 9),
        "DescribeGroups": (admin.DescribeGroupsRequest(groups=names), 5),
        "LeaveGroup": (consumer.LeaveGroupRequest(group_id="g", members=leaving), 5),
    }


def main() -> None:
    """Random frames both ways, then the long requests."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    random_frames("in process", fuzz_in_process, seeds)
    random_frames("sockets", fuzz_over_sockets, seeds)
    for name, (request, version) in long_requests().items():
        watch = TurnWatch()
        with EmbeddedBroker({"t": 4}) as broker, Connection(broker.bootstrap, timeout_s=120.0) as connection:
            watching = broker.spawn(watch.run())
            began = time.monotonic()
            connection.call(request, version)
            watching.cancel()
        print(f"{name} of {MAX_ELEMENTS:,}: {time.monotonic() - began:.1f} s, longest turn {watch.longest_ms:.0f} ms")


if __name__ == "__main__":
    main()
