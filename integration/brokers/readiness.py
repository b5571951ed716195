"""When is a broker ready? When it answers the protocol: log lines depend on a logging configuration, answers do not."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import consumer, errors, metadata
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

PROBE_GROUP: Final = "rebalance-check-probe"
PAUSE_S: Final = 0.1


def await_ready(
    bootstrap: str, *, timeout_s: float, death: Callable[[], str | None] = lambda: None, coordinates: bool = True
) -> None:
    """Return as soon as the broker coordinates groups, or, not to be asked for that, knows who does.

    ``death`` tells why waiting is in vain (the process ended), or None. `RebalanceCheckError` then, and when
    ``timeout_s`` seconds are over.
    """
    deadline = time.monotonic() + timeout_s
    while (obstacle := _obstacle(bootstrap, coordinates=coordinates)) is not None:
        if (reason := death()) is not None:
            raise RebalanceCheckError(reason)
        if time.monotonic() >= deadline:
            raise RebalanceCheckError(
                f"the broker at {bootstrap} does not coordinate groups after {timeout_s:g} s ({obstacle}): "
                "check that Apache Kafka listens there"
            )
        time.sleep(PAUSE_S)


def _obstacle(bootstrap: str, *, coordinates: bool) -> str | None:
    """Why the broker is not ready yet; None when it is.

    FindCoordinator makes the broker create its offsets topic; a Heartbeat for a group that nobody has is answered
    UNKNOWN_MEMBER_ID as soon as that topic is loaded, and NONE or an error of the coordinator before.
    """
    try:
        with Connection(bootstrap, timeout_s=5.0) as broker:
            broker.call(metadata.ApiVersionsRequest(), 0)
            found = broker.call(metadata.FindCoordinatorRequest(key=PROBE_GROUP, key_type=0), 2)
            if found.error_code:
                return f"FindCoordinator answers {_name(found.error_code)}"
            if not coordinates:
                return None
            beat = consumer.HeartbeatRequest(group_id=PROBE_GROUP, generation_id=0, member_id="nobody")
            code = broker.call(beat, 3).error_code
            return None if code == Error.UNKNOWN_MEMBER_ID else f"Heartbeat answers {_name(code)}"
    except (OSError, errors.KafkaError) as error:
        return str(error) or type(error).__name__


def _name(code: int) -> str:
    return str(errors.for_code(code).__name__)
