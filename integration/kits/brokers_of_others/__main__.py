"""Runs a broker of others: ``python -m rebalance_check.integration.kits.brokers_of_others NAME [a:3,b:6]``.

Prints its address and release, and runs until it is interrupted.
"""

from __future__ import annotations

import signal
import sys
from contextlib import suppress

from rebalance_check.integration.interrupts import orderly_end
from rebalance_check.integration.kits.brokers_of_others.known import OTHER_BROKERS, other_broker
from rebalance_check.integration.kits.brokers_of_others.other_broker import running
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.exit_codes import ExitCode


def main() -> None:
    """Read the name and the topics, and run the broker; without a name, print all names."""
    if len(sys.argv) == 1:
        print(*(each.name for each in OTHER_BROKERS), sep="\n")
        return
    try:
        broker, topics = other_broker(sys.argv[1]), _topics(sys.argv[2] if len(sys.argv) > 2 else "t:4")
        with suppress(KeyboardInterrupt), orderly_end(), running(broker, topics) as address:
            print(address, broker.title, flush=True)
            signal.pause()
    except RebalanceCheckError as refused:
        print(refused, file=sys.stderr)
        sys.exit(ExitCode.USAGE)


def _topics(text: str) -> dict[str, int]:
    pairs = [each.partition(":") for each in text.split(",")]
    if not all(name and count.isdecimal() for name, _, count in pairs):
        raise RebalanceCheckError(
            f"{text!r} describes no topics: write names with numbers of partitions, as in a:3,b:6"
        )
    return {name: int(count) for name, _, count in pairs}


if __name__ == "__main__":
    main()
