"""The claims about config stores judge Kafka's own class, and find what compaction does to it (KAFKA-17719)."""

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from rebalance_check.impl.connect.config.compaction import compacted
from rebalance_check.impl.connect.config.shared_log import TopicRecord
from rebalance_check.impl.connect.config.values import ConfigRecord
from rebalance_check.integration.comparison.stores.config_history import Log, restarts
from rebalance_check.integration.comparison.stores.config_ours import OurConfigStores
from rebalance_check.integration.comparison.stores.java_stores import JavaStores, StoreKind
from rebalance_check.integration.comparison.stores.sequence import Stores
from rebalance_check.integration.virtual import Release
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws import config
from tests.config_orders import FENCED, RECONFIGURED_WHILE_PAUSED, REWRITTEN, commit, task
from tests.integration.seen import assert_seen

pytestmark = pytest.mark.virtual


@pytest.fixture(scope="session")
def java(release: Release) -> Iterator[JavaStores]:
    with JavaStores(release, StoreKind.CONFIG) as started:
        yield started


def before_and_after_compaction(stores: Stores, records: Sequence[ConfigRecord]) -> list[str]:
    """The broken claims when one worker has read everything, and another starts on what compaction leaves."""
    full: Log = list(enumerate(records))
    left = compacted([TopicRecord(offset, *record) for offset, record in full])
    events = restarts(stores, {"w0": full, "w1": [(r.offset, records[r.offset]) for r in left]})
    return [found.invariant for found in judge(events, config.LAWS).counterexamples]


def test_kafka_17719_tasks_before_their_connector_are_discarded(java: JavaStores) -> None:
    assert before_and_after_compaction(java, RECONFIGURED_WHILE_PAUSED) == ["snapshots_agree"]
    assert before_and_after_compaction(OurConfigStores(), RECONFIGURED_WHILE_PAUSED) == ["snapshots_agree"]


@pytest.mark.parametrize("records", [REWRITTEN, FENCED, [*FENCED, task(0, "2"), task(1, "2"), commit(2)]])
def test_compaction_is_safe_while_tasks_follow_their_connector(java: JavaStores, records: list[ConfigRecord]) -> None:
    assert before_and_after_compaction(java, records) == []


def test_kafkas_own_class_holds_every_claim_on_random_logs(java: JavaStores) -> None:
    random = Random(17)
    kinds = [*RECONFIGURED_WHILE_PAUSED, *FENCED, task(2), commit(0), commit(1), commit(3)]
    logs: dict[str, Log] = {}
    for number in range(60):
        begin = number * 100  # no two workers read as far
        logs[f"w{number}"] = list(enumerate((random.choice(kinds) for _ in range(random.randrange(25))), begin))
    history = restarts(java, logs)
    assert_seen("lockstep: config", history)
    judgement = judge(history, config.LAWS)
    assert judgement.counterexamples == ()
