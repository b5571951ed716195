"""Our own client: consumes a topic in a group until SIGTERM; with ``--slip NAME`` it makes one deliberate mistake."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Final

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.driver.sockets import Member
from rebalance_check.integration.kits.adapters.arguments import Shown, parser
from rebalance_check.integration.kits.adapters.ours.slipping import SlippingConsumer
from rebalance_check.integration.kits.adapters.ours.slips import SLIPS, slip
from rebalance_check.integration.live.clients.reading import Reading
from rebalance_check.integration.machine_clock import now_ms

ASSIGNORS: Final[dict[str, Callable[[], Assignor]]] = {
    "eager": RangeAssignor,
    "cooperative": CooperativeStickyAssignor,
}
AUTO_COMMIT_MS: Final = 1_000
POLL_S: Final = 0.1


def arguments(line: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments of the command line, or of ``line``."""
    options = parser(list(ASSIGNORS))
    options.formatter_class = argparse.RawDescriptionHelpFormatter
    options.epilog = "slips:\n" + "\n".join(f"  {name:<24} {each.what}" for name, each in SLIPS.items())
    options.add_argument(
        "--slip", choices=list(SLIPS), default="", metavar="NAME", help="make one of the mistakes below"
    )
    options.add_argument("--commit-ms", type=int, default=AUTO_COMMIT_MS, help="how often it commits by itself")
    return options.parse_args(line)


def consume(given: argparse.Namespace, stopping: threading.Event) -> None:
    """Consume until ``stopping`` is set, then leave the group.

    Raises: GroupError when the group refuses the consumer for good.
    """
    consumer = _consumer(given)
    reading, shown = Reading(consumer), Shown()
    with Member(consumer, given.bootstrap) as member:
        while not stopping.is_set():
            member.poll(POLL_S)
            member.call(lambda _consumer: reading.step(now_ms()))
            shown(consumer.owned)
        member.close()


def _consumer(given: argparse.Namespace) -> SlippingConsumer:
    config = ClientConfig(
        group_id=given.group,
        client_id="ours",
        group_instance_id=given.instance,
        session_timeout_ms=given.session_ms,
        heartbeat_interval_ms=given.heartbeat_ms,
        rebalance_timeout_ms=given.rebalance_ms,
    )
    return SlippingConsumer(
        config,
        Recorder(given.group, "ours", now_ms, lambda _event: None),
        member="ours",
        topics=[given.topic],
        assignors=[ASSIGNORS[given.assignor]()],
        partitions_per_topic={},
        auto_commit_ms=given.commit_ms,
        slip=slip(given.slip),
    )


def main() -> None:
    """Read the arguments, consume until SIGTERM, and end with 1 where the group refused the consumer."""
    given, stopping = arguments(), threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stopping.set())
    try:
        consume(given, stopping)
    except GroupError as refused:
        print(refused, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
