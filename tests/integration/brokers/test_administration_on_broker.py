"""The embedded broker serves requests beyond groups as Kafka 4 does: topics, configs, offsets, transactions.

Of Kafka 3, which has fewer configs and answers in other orders, the error codes are compared.
"""

import uuid
from typing import Any

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import metadata, producer
from tests.integration.brokers import administration
from tests.integration.brokers.administration import Most, error_codes
from tests.integration.brokers.transacting import Transacting, transactions

pytestmark = pytest.mark.broker

SEQUENCES = (
    administration.offsets_by_time,
    administration.topics_and_partitions,
    administration.configs,
    administration.looks_around,
    transactions,
)
CONCURRENT_TRANSACTIONS = 51


def served(bootstrap: str) -> Most:
    with Connection(bootstrap) as connection:
        response = connection.call(metadata.ApiVersionsRequest(), 0)
    return {each.api_key: each.max_version for each in response.api_keys}


def is_kafka_3(most: Most) -> bool:
    return most[producer.TxnOffsetCommitRequest.API_KEY] < 5


def answers(sequence: Any, bootstrap: str, topic: str, most: Most) -> list[tuple[object, object]]:
    create_topic(bootstrap, topic, 2)
    with Connection(bootstrap) as connection:
        return [*sequence(connection.call, topic, most)]


@pytest.mark.parametrize("sequence", SEQUENCES, ids=lambda sequence: sequence.__name__)
def test_it_is_answered_as_by_kafka(real: Broker, sequence: Any) -> None:
    topic = f"administered-{sequence.__name__.replace('_', '-')}-{uuid.uuid4().hex[:8]}"
    most = served(real.bootstrap)
    with EmbeddedBroker() as embedded:
        ours = answers(sequence, embedded.bootstrap, topic, most)
    kafkas = answers(sequence, real.bootstrap, topic, most)
    compared = error_codes if is_kafka_3(most) else administration.shown
    both = [(what, compared(kafka), compared(own)) for (what, kafka), (_, own) in zip(kafkas, ours, strict=True)]
    assert len(both) > 10
    assert [each for each in both if each[1] != each[2]] == []


def test_an_epoch_that_nobody_gave_stops_a_transaction_of_kafka_3_for_good(real: Broker) -> None:
    topic = f"transacted-{uuid.uuid4().hex[:8]}"
    create_topic(real.bootstrap, topic, 2)
    with Connection(real.bootstrap) as connection:
        transacting = Transacting(connection.call, topic)
        transacting.begin()
        transacting.add_group()
        transacting.commit(5)
        refused = transacting.commit(6, epoch=1)
        ended = (transacting.end(True), transacting.end(True))
    if is_kafka_3(served(real.bootstrap)):
        assert ended == (0, CONCURRENT_TRANSACTIONS)
    else:
        assert ended == (0, 0)
        assert 0 not in error_codes(refused)
