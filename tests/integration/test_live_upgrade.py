"""Rolling restarts of real consumers, short and on the embedded broker; and which clients can do them at all."""

from collections.abc import Iterator

import pytest

pytest.importorskip("kafka", reason="live clients need the extra 'brokers'")

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.live.kafka_python_api import (
    CooperativeStickyAssignor,
    KafkaConsumer,
    RangePartitionAssignor,
    errors,
)
from rebalance_check.integration.live.known_deviations import judge_clients
from rebalance_check.integration.live.settings import ClientName, LiveOptions
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import AssignmentComputed, Event, MemberCrashed, MemberStarted, RunEnded
from rebalance_check.model.vocabulary.schedule import Schedule, run
from rebalance_check.model.vocabulary.upgrade_paths import path_named


def restarts(path: str, members: int, *, of: tuple[int, ...]) -> Iterator[Action]:
    """All start; those of ``of`` restart along the path, one after the other, and the group stabilises each time."""
    yield from (Action(ActionKind.START_MEMBER, member) for member in range(members))
    yield Action(ActionKind.AWAIT_GROUP)
    for step in range(1, len(path_named(path).lists)):
        for member in of:
            yield Action(ActionKind.STOP_MEMBER, member)
            yield Action(ActionKind.START_MEMBER, member, step)
            yield Action(ActionKind.AWAIT_GROUP)
    yield Action(ActionKind.HEAL)


def upgraded(bootstrap: str, path: str, members: int, *, of: tuple[int, ...], settle_ms: int = 20_000) -> list[Event]:
    settings = LiveOptions(upgrade=path, settle_timeout_ms=settle_ms)
    schedule = Schedule(Bounds(members=members, partitions=6), tuple(restarts(path, members, of=of)))
    return list(run(LiveSubject(Broker(bootstrap, "embedded"), settings), schedule))


def broken(history: list[Event]) -> dict[str, str]:
    """The words of each broken claim."""
    return {
        found.invariant: " ".join(reason.text for reason in found.because)
        for found in judge_clients(history).judgement.counterexamples
    }


def test_two_rolling_restarts_of_real_consumers_hold(broker: EmbeddedBroker) -> None:
    history = upgraded(broker.bootstrap, "legal", 2, of=(0, 1))
    assert broken(history) == {}
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]
    started = [(event.member, event.protocol) for event in history if isinstance(event, MemberStarted)]
    assert started == [
        *[("m0", "eager"), ("m1", "eager")] * 2,
        *[("m0", "cooperative"), ("m1", "cooperative")],
    ]
    voted = [event.protocol for event in history if isinstance(event, AssignmentComputed)]
    assert list(dict.fromkeys(voted)) == ["range", "cooperative-sticky"]


def test_a_single_rolling_restart_is_refused_by_the_group__and_the_client_gives_up(broker: EmbeddedBroker) -> None:
    history = upgraded(broker.bootstrap, "single-upgrade", 2, of=(1,), settle_ms=4_000)
    assert (
        "m1 gave up; its last lines: JoinGroup failed with INCONSISTENT_GROUP_PROTOCOL"
        in (broken(history)["rebalance_completes"])
    )
    assert [event.member for event in history if isinstance(event, MemberCrashed)] == ["m1"]


@pytest.mark.nightly
def test_a_reused_name_takes_a_partition_from_a_consumer_that_still_owns_it(broker: EmbeddedBroker) -> None:
    history = upgraded(broker.bootstrap, "reused-name", 3, of=(1, 2))
    assert "before m1 could revoke it" in broken(history)["revoked_before_reassigned"]


def test_kafka_python_as_it_is_cannot_take_the_first_rolling_restart() -> None:
    with pytest.raises(errors.KafkaConfigurationError, match="Mixing EAGER and COOPERATIVE assignors"):
        KafkaConsumer(
            bootstrap_servers="127.0.0.1:1",
            group_id="g",
            api_version=(2, 6),
            partition_assignment_strategy=[CooperativeStickyAssignor, RangePartitionAssignor],
        )


def test_librdkafka_cannot_take_the_first_rolling_restart() -> None:
    confluent = pytest.importorskip("confluent_kafka", reason="live clients need the extra 'brokers'")
    strategies = {"partition.assignment.strategy": "cooperative-sticky,range"}
    with pytest.raises(confluent.KafkaException, match="assignor"):
        confluent.Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", **strategies})


def test_an_upgrade_of_clients_that_cannot_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="the clients of an upgrade are confluent-kafka: choose kafka-python"):
        LiveOptions(upgrade="legal", clients=(ClientName.LIBRDKAFKA,))
