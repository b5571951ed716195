"""Live clients of three libraries, short and on the embedded broker: one interface, one group, one judge."""

import struct

import pytest

pytest.importorskip("kafka", reason="live clients need the extra 'brokers'")

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.live.clients import require_installed
from rebalance_check.integration.live.known_deviations import judge_clients
from rebalance_check.integration.live.settings import ClientName, LiveOptions, LiveProtocol
from rebalance_check.integration.live.settling import Unsettled
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.integration.recorders.librdkafka import read_metadata
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    HealEnded,
    MemberLeft,
    MemberStarted,
    RunEnded,
    TaskStarted,
)
from rebalance_check.model.vocabulary.schedule import Schedule, run
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from tests.integration.hung_clients import repeated_when_hung
from tests.integration.seen import assert_seen

KAFKA_PYTHON, LIBRDKAFKA, AIOKAFKA, OURS = ClientName
START, STOP, HEAL = ActionKind.START_MEMBER, ActionKind.STOP_MEMBER, Action(ActionKind.HEAL)


def live(broker: EmbeddedBroker, settings: LiveOptions, *actions: Action) -> list[Event]:
    is_cooperative = settings.protocol is LiveProtocol.COOPERATIVE
    protocol = RebalanceProtocol.COOPERATIVE if is_cooperative else RebalanceProtocol.EAGER
    schedule = Schedule(Bounds(protocol=protocol, members=3, partitions=4), actions)
    where = Broker(broker.bootstrap, "embedded")
    return repeated_when_hung(lambda: list(run(LiveSubject(where, settings), schedule)))


@pytest.mark.parametrize(
    ("protocol", "clients"),
    [
        pytest.param("eager", (AIOKAFKA, LIBRDKAFKA, KAFKA_PYTHON), id="eager"),
        pytest.param("cooperative", (LIBRDKAFKA, KAFKA_PYTHON), id="cooperative", marks=pytest.mark.nightly),
        pytest.param("eager", (OURS, LIBRDKAFKA, KAFKA_PYTHON), id="eager-ours", marks=pytest.mark.nightly),
        pytest.param("cooperative", (KAFKA_PYTHON, OURS, LIBRDKAFKA), id="cooperative-ours"),
    ],
)
def test_members_of_different_libraries_share_a_group(
    broker: EmbeddedBroker, protocol: str, clients: tuple[ClientName, ...]
) -> None:
    settings = LiveOptions(protocol=LiveProtocol(protocol), clients=clients)
    starts = [Action(START, slot) for slot in range(3)]
    history = live(broker, settings, *starts, HEAL, Action(STOP, 0), HEAL)
    assert judge_clients(history).judgement.counterexamples == ()
    if OURS not in clients:
        assert_seen("live", history)
    started = {event.member: event.client for event in history if isinstance(event, MemberStarted)}
    assert started == {f"m{slot}": clients[slot % len(clients)] for slot in range(3)}
    completed = [event for event in history if isinstance(event, AssignmentCompleted)]
    assert {event.member for event in completed} == set(started)
    assert all(event.generation > 0 and event.member_id for event in completed)
    # Librdkafka's leader computes in C; a library in Python shows it.
    assert {started[event.member] for event in history if isinstance(event, AssignmentComputed)} <= {*clients} - {
        LIBRDKAFKA
    }
    assert {event.member for event in history if isinstance(event, MemberLeft)} == set(started)


def test_candidates_of_ours_elect_a_primary__and_another_when_it_leaves(broker: EmbeddedBroker) -> None:
    settings = LiveOptions(protocol=LiveProtocol.ELECTION, clients=(OURS,))
    history = live(broker, settings, *[Action(START, slot) for slot in range(3)], HEAL, Action(STOP, 0), HEAL)
    assert judge(history).outcome is Outcome.HELD
    acted = [event.member for event in history if isinstance(event, TaskStarted)]
    assert list(dict.fromkeys(acted))[:2] == ["m0", "m1"]


def test_libraries_have_no_candidates_of_an_election() -> None:
    with pytest.raises(RebalanceCheckError, match="choose ours alone"):
        LiveOptions(protocol=LiveProtocol.ELECTION, clients=(OURS, KAFKA_PYTHON))


def test_what_was_pending_at_any_heal_is_named_at_the_end(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = Unsettled(("m0 runs, and the group does not hold it",), ("m0",))
    answers = iter([Unsettled(), stuck, Unsettled()])
    monkeypatch.setattr("rebalance_check.integration.live.subject.await_settled", lambda *_, **__: next(answers))
    history = live(broker, LiveOptions(), HEAL, HEAL, HEAL)
    (end,) = [event for event in history if isinstance(event, RunEnded)]
    assert end.pending == ("at heal 2, m0 runs, and the group does not hold it",)
    heals = [(event.pending, event.missing) for event in history if isinstance(event, HealEnded)]
    assert heals == [((), ()), (end.pending, ("m0",)), ((), ())]
    assert judge(history).verdict("rebalance_completes").outcome is Outcome.VIOLATED


def test_aiokafka_in_a_cooperative_group_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="aiokafka has no cooperative assignor"):
        LiveOptions(protocol=LiveProtocol.COOPERATIVE, clients=(KAFKA_PYTHON, AIOKAFKA))


def test_a_client_that_is_not_installed__the_error_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(RebalanceCheckError) as refused:
        require_installed(AIOKAFKA)
    assert str(refused.value) == "the client aiokafka is not installed: pip install 'rebalance-check[brokers]'"


def test_librdkafkas_group_metadata_are_read() -> None:
    data = b"CGMDv2:" + struct.pack("=i", 7) + b"group\0m0-1234\0\1"
    assert read_metadata(data) == (7, "group", "m0-1234", "")
    assert read_metadata(data[:-1] + b"\0i7\0").instance_id == "i7"
    with pytest.raises(RebalanceCheckError, match="begin with b'CGMDv9:'"):
        read_metadata(b"CGMDv9:" + data[7:])


def test_a_choice_is_dealt_to_each_member_in_turn() -> None:
    settings = LiveOptions(clients=(LIBRDKAFKA, AIOKAFKA))
    assert [settings.choice(slot).client for slot in range(3)] == [LIBRDKAFKA, AIOKAFKA, LIBRDKAFKA]
    assert [settings.choice(slot).assignors for slot in range(2)] == [("range", "roundrobin"), ("range",)]
    chosen = LiveOptions(clients=(LIBRDKAFKA, AIOKAFKA), assignors=("roundrobin",))
    assert [chosen.choice(slot).assignors for slot in range(2)] == [("roundrobin",), ("roundrobin",)]


def test_an_assignor_that_the_protocol_has_not_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match=r"'sticky' is no assignor of eager live members: choose from range,"):
        LiveOptions(assignors=("sticky",))
