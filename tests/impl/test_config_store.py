"""The config store over a topic in memory: calls step by step, privileges and fencing, lost batches, crashes."""

from collections.abc import Callable

import pytest

from rebalance_check.impl.connect.config.channel import ConfigChannel
from rebalance_check.impl.connect.config.errors import (
    ConfigTimeoutError,
    ConfigWriteError,
    PrivilegeError,
    UnsupportedError,
)
from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.shared_log import SharedConfigLog
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.config.values import ConfigRecord, SessionKey, TargetState
from rebalance_check.impl.connect.config.writing import ConfigCall
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

TWO_TASKS = [{"t": "0"}, {"t": "1"}]


class Cluster:
    """A topic, and a store per worker; ``prompt`` ones do what they are asked at once."""

    def __init__(self, exactly_once: ExactlyOnce = ExactlyOnce.DISABLED, partitions: int = 1) -> None:
        self.clock = VirtualClock()
        self.exactly_once = exactly_once
        self.topic = SharedConfigLog(Recorder("connect", "log", self.clock.now, None), partitions=partitions)

    def worker(
        self, name: str = "w0", *, prompt: bool = True, rewrite_tasks: bool = False
    ) -> tuple[ConfigStore, ConfigChannel]:
        committed = self.exactly_once is ExactlyOnce.ENABLED
        channel = ConfigChannel(self.topic, name, committed=committed)
        recorder = Recorder("connect", name, self.clock.now, None)
        store = ConfigStore(
            name, channel, recorder, now=self.clock.now, exactly_once=self.exactly_once, rewrite_tasks=rewrite_tasks
        )
        channel.store = store
        store.start().result()
        channel.prompt = prompt
        return store, channel

    def keys(self) -> list[str | None]:
        return [record.key for record in self.topic.records]


def step(channel: ConfigChannel) -> bool:
    """One step of what a store asked for; False when nothing is left."""
    if channel.claims:
        channel.claim()
    elif channel.sending and not channel.sending[0].complete:
        channel.append(channel.sending[0])
    elif channel.sending:
        channel.answer(channel.sending[0])
    elif channel.ends:
        channel.poll()
        channel.serve_end()
    else:
        return False
    return True


@pytest.mark.parametrize("steps", range(9))
def test_a_writer_may_end_between_any_two_steps(steps: int) -> None:
    """Whatever it left, another worker lists the tasks of the write before, or of the new one; never a mixture."""
    cluster = Cluster()
    first, _ = cluster.worker()
    first.put_connector("a", {}).result()
    first.put_tasks("a", [{"t": "old"}]).result()
    second, channel = cluster.worker("w1", prompt=False)
    second.put_tasks("a", [{"t": "new"}, {"t": "new"}])
    for _ in range(steps):
        step(channel)
    channel.close()
    reader, _ = cluster.worker("w2")
    taken = reader.snapshot()
    texts = [taken.task_config("a", number) for number in taken.tasks("a")]
    assert texts in ([{"t": "old"}], [{"t": "new"}] * 2)


@pytest.mark.parametrize(("rewrite_tasks", "left"), [(False, 0), (True, 2)])
def test_tasks_that_are_rewritten_behind_their_connector_survive_compaction(rewrite_tasks: bool, left: int) -> None:
    """KAFKA-17719, and a writer that mends it."""
    cluster = Cluster()
    store, _ = cluster.worker(rewrite_tasks=rewrite_tasks)
    store.put_connector("a", {"v": "1"}).result()
    store.put_tasks("a", TWO_TASKS).result()
    store.put_connector("a", {"v": "2"}).result()
    cluster.topic.compact()
    later, _ = cluster.worker("w1")
    assert store.snapshot().task_counts == {"a": 2}
    assert later.snapshot().task_counts == {"a": left}


def test_what_a_fenced_leader_had_sent_is_aborted() -> None:
    cluster = Cluster(ExactlyOnce.ENABLED)
    old, channel = cluster.worker()
    old.claim_privileges().result()
    channel.prompt = False
    old.put_connector("a", {})
    channel.append(channel.sending[0])
    new, _ = cluster.worker("w1")
    new.claim_privileges().result()
    new.refresh(10).result()
    assert "a" not in new.snapshot()
    assert cluster.keys() == ["connector-a"]
    with pytest.raises(RebalanceCheckError, match="fenced"):
        channel.answer(channel.sending[0])


def test_readers_of_uncommitted_records_see_what_was_aborted() -> None:
    """Where exactly-once support is only being prepared."""
    cluster = Cluster(ExactlyOnce.PREPARING)
    old, channel = cluster.worker()
    old.claim_privileges().result()
    channel.prompt = False
    old.put_connector("a", {})
    channel.append(channel.sending[0])
    channel.close()
    reader, _ = cluster.worker("w1")
    assert "a" in reader.snapshot()


def test_plain_sends_may_overtake_each_other() -> None:
    store, channel = Cluster().worker(prompt=False)
    store.put_connector("a", {}, TargetState.STOPPED)
    channel.append(channel.sending[0], 1)
    channel.poll()
    assert store.snapshot().target_state("a") is TargetState.STARTED


def test_a_call_ends_after_thirty_seconds_and_its_record_may_be_there_all_the_same() -> None:
    cluster = Cluster()
    store, channel = cluster.worker()
    channel.readable = False
    call = store.put_connector("a", {})
    cluster.clock.run_until(29_999)
    store.expire()
    assert not call.done
    cluster.clock.run_until(30_000)
    store.expire()
    with pytest.raises(ConfigWriteError, match="may have been appended"):
        call.result()
    assert cluster.keys() == ["connector-a"]


def test_a_transaction_has_its_own_time_outs__what_follows_it_has_not() -> None:
    cluster = Cluster(ExactlyOnce.ENABLED)
    store, channel = cluster.worker(prompt=False)
    store.claim_privileges()
    channel.claim()
    call = store.put_task_count("a", 1)
    cluster.clock.run_until(30_000)
    assert store.deadline_of(call) is None
    store.expire()
    assert not call.done
    sending = channel.sending[0]
    while not sending.complete:
        channel.append(sending)
    channel.answer(sending)
    assert store.deadline_of(call) == 30_000
    store.expire()
    with pytest.raises(ConfigWriteError):
        call.result()


def test_a_record_at_which_the_reader_throws_costs_the_rest_of_its_batch() -> None:
    cluster = Cluster()
    store, channel = cluster.worker(prompt=False)
    channel.poll()
    cluster.topic.append("somebody", ConfigRecord("connector-a", b'{"properties":{}}'))
    channel.poll()  # a batch after the read to the end at the start
    cluster.topic.append("somebody", ConfigRecord("commit-a", b'{"tasks":"one"}'))
    cluster.topic.append("somebody", ConfigRecord("connector-b", b'{"properties":{}}'))
    channel.poll()
    cluster.topic.append("somebody", ConfigRecord("connector-c", b'{"properties":{}}'))
    channel.poll()
    assert store.snapshot().connectors() == ("a", "c")
    assert (channel.lost, channel.ended) == (1, False)


def test_the_reader_ends_at_such_a_record_in_the_first_batch_after_a_read_to_the_end() -> None:
    cluster = Cluster()
    store, channel = cluster.worker()
    store.refresh(10).result()
    cluster.topic.append("somebody", ConfigRecord("commit-a", b"{}"))
    cluster.topic.append("somebody", ConfigRecord("connector-a", b'{"properties":{}}'))
    store.put_connector("b", {})  # the connector is not configured, so its commit is passed over
    assert store.snapshot().connectors() == ("a", "b")
    cluster.topic.append("somebody", ConfigRecord("commit-a", b"{}"))
    call = store.refresh(10)
    assert channel.ended
    assert not call.done
    cluster.clock.run_until(10)
    store.expire()
    with pytest.raises(ConfigTimeoutError):
        call.result()


WRITES: dict[str, Callable[[ConfigStore], ConfigCall]] = {
    "connector": lambda store: store.put_connector("a", {}),
    "tasks": lambda store: store.put_tasks("a", TWO_TASKS),
    "removal": lambda store: store.remove_connector("a"),
    "count": lambda store: store.put_task_count("a", 2),
    "key": lambda store: store.put_session_key(SessionKey(b"x", "HmacSHA256", 1)),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_privileged_write_needs_privileges_where_it_is_a_transaction(write: str) -> None:
    store, _ = Cluster(ExactlyOnce.PREPARING).worker()
    with pytest.raises(PrivilegeError, match="claim them first"):
        WRITES[write](store).result()
    store.claim_privileges().result()
    WRITES[write](store).result()


def test_tasks_cannot_be_removed() -> None:
    store, _ = Cluster().worker()
    with pytest.raises(UnsupportedError):
        store.remove_tasks("a")
