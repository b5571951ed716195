"""Live clients of three libraries, short and on the embedded broker: one interface, one group, one judge."""

import struct
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka", reason="live clients need the extra 'brokers'")

from rebalance_check.integration.cluster import Broker
from rebalance_check.integration.live.clients import require_installed
from rebalance_check.integration.live.clients.librdkafka import read_metadata
from rebalance_check.integration.live.known import judge_clients
from rebalance_check.integration.live.settings import ClientName, LiveProtocol, LiveSettings
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.integration.wire.embedded import EmbeddedBroker
from rebalance_check.model.actions import Action, ActionKind
from rebalance_check.model.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.errors import RebalanceCheckError
from rebalance_check.model.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    PartitionsAssigned,
    PartitionsRevoked,
    RunEnded,
)
from rebalance_check.model.subject import Schedule, run
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome, Violated

KAFKA_PYTHON, LIBRDKAFKA, AIOKAFKA = ClientName
START, STOP, HEAL = ActionKind.START_MEMBER, ActionKind.STOP_MEMBER, Action(ActionKind.HEAL)


def live(broker: EmbeddedBroker, settings: LiveSettings, *actions: Action) -> list[Event]:
    subject = LiveSubject(Broker(broker.bootstrap, "embedded"), settings)
    protocol = RebalanceProtocol(settings.protocol)
    return list(run(subject, Schedule(Bounds(protocol=protocol, members=3, partitions=4), actions)))


@pytest.mark.parametrize(
    ("protocol", "clients"),
    [
        pytest.param("eager", (AIOKAFKA, LIBRDKAFKA, KAFKA_PYTHON), id="eager"),
        pytest.param("cooperative", (LIBRDKAFKA, KAFKA_PYTHON), id="cooperative"),
    ],
)
def test_members_of_different_libraries_share_a_group(
    broker: EmbeddedBroker, protocol: str, clients: tuple[ClientName, ...]
) -> None:
    settings = LiveSettings(protocol=LiveProtocol(protocol), clients=clients)
    starts = [Action(START, slot) for slot in range(3)]
    history = live(broker, settings, *starts, HEAL, Action(STOP, 0), HEAL)
    assert [v.counterexample for v in judge_clients(history).values() if isinstance(v, Violated)] == []
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


def test_what_was_pending_at_any_heal_is_named_at_the_end(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = iter([(), ("the group has 2 members, not 3",), ()])
    monkeypatch.setattr("rebalance_check.integration.live.subject.await_settled", lambda *_, **__: next(told))
    history = live(broker, LiveSettings(), HEAL, HEAL, HEAL)
    (end,) = [event for event in history if isinstance(event, RunEnded)]
    assert end.pending == ("at heal 2, the group has 2 members, not 3",)
    assert judge(history).verdict("rebalance_completes").outcome is Outcome.VIOLATED


def revoked_twice(client: str) -> list[Event]:
    common: dict[str, Any] = {"group": "g", "source": "m0", "member": "m0"}
    revoked = [PartitionsRevoked(**common, generation=1, member_id="a", partitions=("t-0",), seq=seq) for seq in (2, 3)]
    return [
        MemberStarted(**common, protocol="eager", client=client, seq=0),
        PartitionsAssigned(**common, generation=1, member_id="a", partitions=("t-0",), seq=1),
        *revoked,
        RunEnded(group="g", source="harness", seq=0),
    ]


def test_a_known_difference_excuses_its_client__and_no_other() -> None:
    broken = {
        client: [claim.name for claim, verdict in judge_clients(revoked_twice(client)).items()
                 if isinstance(verdict, Violated)]
        for client in ClientName
    }  # fmt: skip
    assert broken == {
        KAFKA_PYTHON: [],
        LIBRDKAFKA: ["callbacks_alternate"],
        AIOKAFKA: ["callbacks_alternate"],
    }


def test_aiokafka_may_revoke_what_it_has_lost__and_nobody_else() -> None:
    def broken(client: str) -> list[str]:
        common: dict[str, Any] = {"group": "g", "source": "m0", "member": "m0"}
        owned: dict[str, Any] = {"partitions": ("t-0",)}
        history: list[Event] = [
            MemberStarted(**common, protocol="eager", client=client, seq=0),
            PartitionsAssigned(**common, **owned, generation=1, member_id="a", seq=1),
            MembershipLost(**common, generation=1, member_id="a", reason="not told", seq=2),
            PartitionsRevoked(**common, **owned, generation=-1, seq=3),
            RunEnded(group="g", source="harness", seq=0),
        ]
        return [claim.name for claim, verdict in judge_clients(history).items() if isinstance(verdict, Violated)]

    assert [broken(client) for client in (KAFKA_PYTHON, LIBRDKAFKA, AIOKAFKA)] == [
        ["reset_loses_all"],
        ["reset_loses_all"],
        [],
    ]


def test_a_known_difference_leaves_no_hole_in_what_the_others_say() -> None:
    verdicts = judge_clients(revoked_twice(KAFKA_PYTHON)).values()
    assert [verdict for verdict in verdicts if verdict.outcome is not Outcome.HELD] == []


def test_aiokafka_in_a_cooperative_group_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="aiokafka has no cooperative assignor"):
        LiveSettings(protocol=LiveProtocol.COOPERATIVE, clients=(KAFKA_PYTHON, AIOKAFKA))


def test_a_client_that_is_not_installed_is_told_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(RebalanceCheckError) as told:
        require_installed(AIOKAFKA)
    assert str(told.value) == "the client aiokafka is not installed: pip install 'rebalance-check[brokers]'"


def test_librdkafkas_group_metadata_are_read() -> None:
    data = b"CGMDv2:" + struct.pack("=i", 7) + b"group\0m0-1234\0\1"
    assert read_metadata(data) == (7, "m0-1234")
    with pytest.raises(RebalanceCheckError, match="begin with b'CGMDv9:'"):
        read_metadata(b"CGMDv9:" + data[7:])


def test_a_seat_is_dealt_to_each_member_in_turn(tmp_path: Path) -> None:
    settings = LiveSettings(clients=(LIBRDKAFKA, AIOKAFKA))
    assert [settings.seat(slot).client for slot in range(3)] == [LIBRDKAFKA, AIOKAFKA, LIBRDKAFKA]
    assert settings.seat(0).assignors == ("range", "roundrobin")
