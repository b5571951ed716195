"""When is a broker ready? When it answers the protocol: log lines depend on a logging configuration, answers do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import consumer, errors, metadata
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

PROBE_GROUP: Final = "rebalance-check-probe"
PAUSE_S: Final = 0.1

COORDINATES_NOT_YET: Final = frozenset(
    {
        Error.NONE,
        Error.COORDINATOR_LOAD_IN_PROGRESS,
        Error.COORDINATOR_NOT_AVAILABLE,
        Error.NOT_COORDINATOR,
        Error.UNKNOWN_SERVER_ERROR,
    }
)
"""Kafka's answers to the Heartbeat of an unknown member until it has loaded the group's partition."""


def await_ready(
    bootstrap: str, *, timeout_s: float, death: Callable[[], str | None] = lambda: None, coordinates: bool = True
) -> None:
    """Return as soon as the broker coordinates groups; without ``coordinates``, as soon as it knows which node does.

    ``death`` tells why waiting is in vain (the process ended), or None.

    Raises:
        RebalanceCheckError: the process ended, or ``timeout_s`` seconds are over.
    """

    def probe() -> NotYet | bool:
        obstacle = _obstacle(bootstrap, coordinates=coordinates)
        if obstacle is not None and (reason := death()) is not None:
            raise RebalanceCheckError(reason)
        return True if obstacle is None else NotYet(obstacle)

    await_until(
        probe, timeout_s=timeout_s, pause_s=PAUSE_S, otherwise=f"the broker at {bootstrap} does not coordinate groups",
        hint="check that a broker listens there",
    )  # fmt: skip


def _obstacle(bootstrap: str, *, coordinates: bool) -> str | None:
    """Why the broker is not ready yet; None when it is.

    FindCoordinator makes the broker create its offsets topic; a Heartbeat for a group that does not exist is answered
    UNKNOWN_MEMBER_ID as soon as that topic is loaded, and NONE or an error of the coordinator before. Brokers of others
    answer otherwise (kfake: GROUP_ID_NOT_FOUND): with any answer at all they coordinate.
    """
    try:
        with Connection(bootstrap, timeout_s=5.0) as broker:
            broker.call(metadata.ApiVersionsRequest(), 0)
            found = broker.call(metadata.FindCoordinatorRequest(key=PROBE_GROUP, key_type=0), 2)
            if found.error_code:
                return f"FindCoordinator answers {_name(found.error_code)}"
        if not coordinates:
            return None
        with Connection(f"{found.host}:{found.port}", timeout_s=5.0) as coordinator:
            beat = consumer.HeartbeatRequest(group_id=PROBE_GROUP, generation_id=0, member_id="nobody")
            code = coordinator.call(beat, 3).error_code
            return f"Heartbeat answers {_name(code)}" if code in COORDINATES_NOT_YET else None
    except (OSError, errors.KafkaError) as error:
        return str(error) or type(error).__name__


def _name(code: int) -> str:
    return str(errors.for_code(code).__name__)
