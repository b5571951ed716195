"""The status topic of a real cluster as the log of our store: the producer's settings, and what its failures become."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.integration.connect.workers.ours import logs
from rebalance_check.integration.live.kafka_python_api import errors


class Producer:
    """A producer that keeps what it was made with; ``failure`` is raised at once, or given to the callback later."""

    made: dict[str, Any]
    raises: Exception | None = None

    def __init__(self, **settings: Any) -> None:
        Producer.made = settings
        self.answered: list[tuple[Callable[[Any], None], Callable[[Any], None]]] = []

    def send(self, _topic: str, **_record: Any) -> Any:
        if self.raises is not None:
            raise self.raises
        callbacks: list[Any] = [None, None]
        future = SimpleNamespace(
            add_callback=lambda call: callbacks.__setitem__(0, call),
            add_errback=lambda call: callbacks.__setitem__(1, call),
        )
        self.answered.append(callbacks)  # type: ignore[arg-type]  # filled by the two calls that follow
        return future


class Store:
    """A store that notes what was completed."""

    def __init__(self) -> None:
        self.retries = 0
        self.completions: list[Any] = []

    def completed(self, *report: Any) -> None:
        self.completions.append(report)

    def run_retry(self) -> None:
        self.retries -= 1


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> logs.KafkaStatusLog:
    monkeypatch.setattr(logs, "KafkaProducer", Producer)
    monkeypatch.setattr(logs, "TopicReader", lambda *_: None)
    threads = SimpleNamespace(post=lambda action: action(), wake_herder=lambda: None, after=lambda *_: None)
    made = logs.KafkaStatusLog("127.0.0.1:9", "statuses", threads, "w0-statuses")  # type: ignore[arg-type]  # posts at once
    made.store = Store()  # type: ignore[assignment]  # notes
    return made


def completions(log: logs.KafkaStatusLog) -> list[Any]:
    store: Any = log.store
    return list(store.completions)


def test_the_producer_waits_for_all_replicas__keeps_one_request_in_flight__and_never_retries(
    log: logs.KafkaStatusLog,
) -> None:
    wanted = {
        "client_id": "w0-statuses",
        "acks": "all",
        "max_in_flight_requests_per_connection": 1,
        "retries": 0,
        "enable_idempotence": False,
    }
    assert wanted.items() <= Producer.made.items()
    assert completions(log) == []


RETRIABLE = ("KafkaTimeoutError", "NotLeaderForPartitionError", "LeaderNotAvailableError", "NotEnoughReplicasError",
             "NotEnoughReplicasAfterAppendError", "UnknownTopicOrPartitionError", "RequestTimedOutError",
             "KafkaConnectionError", "CorruptRecordError")  # fmt: skip
FATAL = ("TopicAuthorizationFailedError", "MessageSizeTooLargeError", "InvalidTopicError")


@pytest.mark.parametrize("name", [*RETRIABLE, *FATAL])
@pytest.mark.parametrize("at_once", [True, False], ids=["thrown by send", "by the callback"])
def test_what_a_failure_of_the_producer_is_for_the_store(
    log: logs.KafkaStatusLog, name: str, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = getattr(errors, name)()
    monkeypatch.setattr(Producer, "raises", failure if at_once else None)
    log.send("status-task-c-0", b"{}", 4, 1)
    if not at_once:
        assert completions(log) == []
        log._producer.answered[0][1](failure)
    assert completions(log) == [(4, 1, SendOutcome.FATAL if name in FATAL else SendOutcome.RETRIABLE)]


def test_a_write_that_waits_for_its_retry_is_sent_again_at_once(log: logs.KafkaStatusLog) -> None:
    store: Any = log.store
    store.retries = 1
    log.send("status-task-c-0", b"{}", 4, 1)
    log._producer.answered[0][1](errors.KafkaTimeoutError())
    assert store.retries == 0
