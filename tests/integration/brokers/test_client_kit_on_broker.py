"""The client kit in front of the broker: a correct consumer breaks no claim there either, ours or Kafka's."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.kits.adapters.ready import adapter
from rebalance_check.model.vocabulary.wire_events import CoordinatorMoved, RequestObserved
from rebalance_check.properties.history import read_history
from rebalance_check.properties.verdict import Outcome
from tests.integration.client_kit import OURS, outcomes, tried

pytestmark = pytest.mark.broker


def test_a_correct_consumer_breaks_no_claim_on_the_broker(real: Broker, tmp_path: Path) -> None:
    scenarios = ("joins", "static", "unknown-member-id", "coordinator-moves", "lost-replies")
    report = tried(OURS, tmp_path, *scenarios, broker=real.bootstrap)
    assert report.unfinished == ""
    assert report.violated == ()
    held = {claim for claim, outcome in outcomes(report).items() if outcome is Outcome.HELD}
    assert held >= {
        "wire_rejoins_when_rebalancing",
        "wire_leaves_on_close",
        "wire_static_restart",
        "wire_no_needless_join",
        "wire_claims_are_the_assignment",
        "wire_skipped_assignment_is_empty",
    }
    moves = [
        event for event in read_history(tmp_path / "coordinator-moves.jsonl") if isinstance(event, CoordinatorMoved)
    ]
    assert len(moves) == 3


def test_the_java_consumer_breaks_no_claim_behind_the_proxy(real: Broker, tmp_path: Path) -> None:
    command = adapter("java").command("cooperative", session_ms=6_000, heartbeat_ms=300, rebalance_ms=6_000)
    report = tried(command, tmp_path, "joins", broker=real.bootstrap)
    assert (report.unfinished, report.violated) == ("", ())
    held = {claim for claim, outcome in outcomes(report).items() if outcome is Outcome.HELD}
    assert held >= {"wire_rejoins_when_rebalancing", "wire_claims_are_the_assignment", "wire_cooperative_hand_over"}
    joins = [
        event
        for event in read_history(tmp_path / "joins.jsonl")
        if isinstance(event, RequestObserved) and event.api == "JoinGroup"
    ]
    assert {event.process for event in joins} == {"p0", "p1", "p2"}
    assert {event.version for event in joins} == {9}
