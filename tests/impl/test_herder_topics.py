"""Topics that connectors use (KIP-558): a herder writes them down, and forgets it with the connector or when asked to.

And the start of a herder: it joins when both its stores have read to the end.
"""

from __future__ import annotations

from rebalance_check.impl.connect.herder.behaviour import Behaviour
from rebalance_check.impl.connect.herder.config import HerderConfig
from rebalance_check.impl.connect.herder.peers import Answer
from rebalance_check.impl.connect.status.codec import Status, StatusValue, TaskKey, TopicKey, TopicValue
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import Event, StatusAttempted, StatusFlushStarted, TopicUsed
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from tests.impl.herder_alone import LoneHerder
from tests.impl.herder_work import TASK, Bench

TOPICS = Behaviour(topics=("t",))
OF_TASK = TaskKey("a", 0)


def topics_written(alone: LoneHerder) -> list[str]:
    """The statuses of topics that the worker wrote, without the beginning of their keys."""
    attempts = [event for event in alone.events if isinstance(event, StatusAttempted)]
    return [f"{each.key.removeprefix('status-topic-')} {each.status}" for each in attempts if "topic" in each.key]


def with_a_task(settings: HerderConfig | None = None, behaviour: Behaviour = TOPICS) -> LoneHerder:
    """A herder whose connector a has one task, which runs here."""
    alone = LoneHerder(settings=settings)
    alone.behaviours[OF_TASK] = behaviour
    alone.configure("a", tasks=1)
    alone.assign(connectors=("a",), tasks=(("a", 0),))
    return alone


def revoke(alone: LoneHerder) -> None:
    """All that the herder runs is taken away."""
    while not alone.herder.on_revoked("id", ["a"], [OF_TASK]):  # type: ignore[list-item]  # as good as a ConnectorTask
        alone.run()
    alone.run()


def test_the_first_use_of_a_topic_is_written__and_no_other_once_that_is_read_back() -> None:
    alone = with_a_task()
    alone.run(5_000)
    assert sum(isinstance(event, TopicUsed) for event in alone.events) == 2
    assert topics_written(alone) == ["t:connector-a TOPIC"]
    assert alone.statuses.topics("a") == [TopicValue("t", "a", 0, alone.statuses.topics("a")[0].discovered_ms)]


def test_before_it_is_read_back_each_use_is_written_again() -> None:
    bench = Bench()
    bench.behaviours[TASK] = TOPICS
    bench.task()
    bench.run(5_000)
    assert bench.written() == ["RUNNING", "TOPIC", "TOPIC"]


def test_a_task_that_is_stopped_uses_no_more_topics() -> None:
    alone = with_a_task()
    alone.herder.worker.instances[OF_TASK].stop()
    alone.run(5_000)
    assert sum(isinstance(event, TopicUsed) for event in alone.events) == 1


def test_a_worker_that_does_not_track_topics_removes_none() -> None:
    alone = with_a_task(HerderConfig(topic_tracking=False), Behaviour())
    alone.statuses.put_topic(TopicValue("t", "a", 0, 7))
    alone.run()
    alone.herder.config_state = type(alone.herder.config_state)()
    revoke(alone)
    assert topics_written(alone) == ["t:connector-a TOPIC"]


def test_the_topics_of_a_deleted_connector_go_with_its_work__before_the_flush() -> None:
    alone = with_a_task()
    alone.herder.config_state = type(alone.herder.config_state)()
    revoke(alone)
    twice = ["t:connector-a DESTROYED"] * 2
    assert topics_written(alone) == ["t:connector-a TOPIC", *twice]
    kinds = [type(event) for event in alone.events]
    flush = kinds.index(StatusFlushStarted)
    last = max(n for n, each in enumerate(alone.events) if isinstance(each, StatusAttempted) and "topic" in each.key)
    assert last < flush
    assert alone.statuses.topics("a") == []


def test_the_topics_of_a_connector_that_only_moves_stay() -> None:
    alone = with_a_task()
    revoke(alone)
    assert topics_written(alone) == ["t:connector-a TOPIC"]


def test_an_operator_has_the_topics_of_a_connector_forgotten() -> None:
    alone, answers = with_a_task(), list[Answer]()
    alone.herder.reset_topics("a", answers.append)
    alone.herder.reset_topics("unknown", answers.append)
    alone.run()
    assert answers == [Answer.OK, Answer.OK]
    assert topics_written(alone) == ["t:connector-a TOPIC", "t:connector-a DESTROYED"]
    assert alone.statuses.get_topic(TopicKey("t", "a")) is None


def test_a_worker_that_does_not_track_topics__or_lets_nobody_reset_them__refuses() -> None:
    for settings in (HerderConfig(topic_tracking=False), HerderConfig(topic_tracking_reset=False)):
        alone, answers = LoneHerder(settings=settings), list[Answer]()
        alone.herder.reset_topics("a", answers.append)
        assert answers == [Answer.FORBIDDEN]


class StartingHerder(LoneHerder):
    """A herder on a status topic that holds a record."""

    def __init__(self) -> None:
        super().__init__()
        log = SharedLog(1, Recorder("connect", "statuses", self.clock.now, None))
        writer = Channel(log, "other")
        writer.store = store = StatusStore("other", writer, Recorder("connect", "other", self.clock.now, None))
        store.put(OF_TASK, StatusValue(Status.RUNNING, "other:8083", 1))
        writer.append()
        writer.answer(SendOutcome.OK)
        self.status_log = Channel(log, "w")
        self.statuses = self.status_log.store = StatusStore("w", self.status_log, self.recorder)
        self.statuses.start(log.ends)


def test_a_herder_does_nothing_until_its_status_store_has_read_to_the_end() -> None:
    alone = StartingHerder()
    parts = alone._parts(HerderConfig())
    herder = type(alone.herder)(parts, lambda _: alone.group)  # type: ignore[arg-type,return-value]  # a test plays the group
    herder.poll()
    assert not alone.statuses.started
    assert not alone.configs.calls
    before = len(alone.events)
    assert alone.status_log.read(0)
    herder.poll()
    names = [type(event).__name__ for event in alone.events[before:]]
    assert names[:2] == ["StatusRead", "StatusStoreStarted"]
    assert "ConfigStoreStarted" in names


def test_what_a_herder_does_with_topics_breaks_no_claim() -> None:
    alone = with_a_task()
    alone.run(5_000)
    alone.herder.reset_topics("a", lambda _: None)
    alone.run(5_000)
    claims = select(["status"])
    history: list[Event] = alone.events
    assert judge(history, claims).counterexamples == ()
