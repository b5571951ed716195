"""Where a consumer goes on: what it asks the coordinator for, and what each answer means to it."""

from collections.abc import Callable

import pytest

from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.fetching import FetchOutcome, OffsetFetch
from rebalance_check.impl.protocol.messages import (
    CommittedOffset,
    GroupReply,
    OffsetFetchReply,
    OffsetFetchRequest,
    TxnOffsetCommitRequest,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback
from rebalance_check.model.vocabulary.errors import Error

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)

Asked = tuple[ConsumerCoordinator, OffsetFetch, Callable[[GroupReply | None], None]]


@pytest.fixture
def environment() -> Loopback:
    """A group of one member that is stable and owns t-0 and t-1."""
    made = Loopback()
    config = ClientConfig(group_id="g", client_id="m0", session_timeout_ms=10_000, rebalance_timeout_ms=30_000)

    def build(recorder: Recorder) -> ConsumerCoordinator:
        return ConsumerCoordinator(
            config, recorder, member="m0", topics=("t",), assignors=[RangeAssignor()], partitions_per_topic={"t": 2}
        )

    made.add(build, group="g", member="m0")
    made.run(1_000)
    return made


@pytest.fixture
def consumer(environment: Loopback) -> ConsumerCoordinator:
    """Its member."""
    client = environment.clients["m0"]
    assert isinstance(client, ConsumerCoordinator)
    return client


@pytest.fixture
def asked(environment: Loopback, consumer: ConsumerCoordinator) -> Asked:
    """A question that waits for the answer that a test makes up."""
    fetch = consumer.committed([T1, T0], environment.now_ms)
    ((number, request),) = consumer.take_requests()
    assert isinstance(request, OffsetFetchRequest)
    assert (request.partitions, request.require_stable) == ((("t", 0), ("t", 1)), True)
    return consumer, fetch, lambda reply: consumer.receive(number, reply, environment.now_ms)


def test_what_was_committed_is_fetched__and_what_was_not_is_left_out(
    environment: Loopback, consumer: ConsumerCoordinator
) -> None:
    consumer.commit({T0: 5}, environment.now_ms)
    fetch = consumer.committed([T0, T1], environment.now_ms)
    environment.exchange()

    assert (fetch.outcome, fetch.offsets) == (FetchOutcome.FETCHED, {T0: 5})


def test_a_consumer_goes_on_where_the_group_stopped__but_not_behind_itself(
    environment: Loopback, consumer: ConsumerCoordinator
) -> None:
    consumer.consumed(T1, 9)
    consumer.start_from(OffsetFetch((T0, T1, U0), FetchOutcome.FETCHED, {T0: 5, T1: 7, U0: 1}))

    assert consumer.positions() == {T0: 5, T1: 9}


def test_nothing_is_asked_for_nothing(consumer: ConsumerCoordinator) -> None:
    assert consumer.committed([], 1_000).outcome is FetchOutcome.FETCHED
    assert consumer.take_requests() == []


def test_without_a_coordinator_there_is_nobody_to_ask(asked: Asked) -> None:
    consumer, fetch, answer = asked
    answer(None)

    assert (fetch.outcome, fetch.error) == (FetchOutcome.RETRIABLE, None)
    assert consumer.coordinator_unknown()
    assert consumer.committed([T0], 1_000).outcome is FetchOutcome.RETRIABLE


@pytest.mark.parametrize(
    ("error", "outcome", "moved"),
    [
        (Error.NOT_COORDINATOR, FetchOutcome.RETRIABLE, True),
        (Error.COORDINATOR_NOT_AVAILABLE, FetchOutcome.RETRIABLE, True),
        (Error.COORDINATOR_LOAD_IN_PROGRESS, FetchOutcome.RETRIABLE, False),
        (Error.REQUEST_TIMED_OUT, FetchOutcome.RETRIABLE, False),
        (Error.GROUP_AUTHORIZATION_FAILED, FetchOutcome.REJECTED, False),
        (Error.UNKNOWN_SERVER_ERROR, FetchOutcome.REJECTED, False),
    ],
)
def test_what_an_error_of_the_whole_means(asked: Asked, error: Error, outcome: FetchOutcome, moved: bool) -> None:
    consumer, fetch, answer = asked
    answer(OffsetFetchReply(error=error))

    assert (fetch.outcome, fetch.error, consumer.coordinator_unknown()) == (outcome, error, moved)
    assert consumer.generation_if_stable() is not None


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [
        ((Error.UNSTABLE_OFFSET_COMMIT,), FetchOutcome.RETRIABLE),
        ((Error.UNKNOWN_TOPIC_OR_PARTITION,), FetchOutcome.REJECTED),
        ((Error.UNSTABLE_OFFSET_COMMIT, Error.TOPIC_AUTHORIZATION_FAILED), FetchOutcome.REJECTED),
    ],
)
def test_what_an_error_of_a_partition_means(asked: Asked, errors: tuple[Error, ...], outcome: FetchOutcome) -> None:
    _, fetch, answer = asked
    offsets = (CommittedOffset("t", 0, 5), CommittedOffset("t", 1, -1))
    answer(OffsetFetchReply(offsets=offsets, errors=tuple(("t", index, error) for index, error in enumerate(errors))))

    assert (fetch.outcome, fetch.offsets) == (outcome, {})


def test_an_open_transaction_is_waited_for(environment: Loopback, consumer: ConsumerCoordinator) -> None:
    request = TxnOffsetCommitRequest(
        group_id="g", version=3, transactional_id="x", producer_id=7, producer_epoch=0,
        offsets=(CommittedOffset("t", 0, 8),),
    )  # fmt: skip
    environment.coordinator.handle("producer", request, environment.now_ms)
    early = consumer.committed([T0], environment.now_ms)
    environment.exchange()
    environment.coordinator.end_transaction(7, is_committed=True)
    late = consumer.committed([T0], environment.now_ms)
    environment.exchange()

    assert (early.outcome, early.error) == (FetchOutcome.RETRIABLE, Error.UNSTABLE_OFFSET_COMMIT)
    assert (late.outcome, late.offsets) == (FetchOutcome.FETCHED, {T0: 8})
