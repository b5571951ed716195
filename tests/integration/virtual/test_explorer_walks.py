"""A walk of the explorer on Kafka's own coordinators: their replies next to the model's, and where both part."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("kafka", reason="virtual Kafka needs the extra 'brokers'")

from rebalance_check.browser.kafka_walks import KafkaWalks
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.registry import MUTANTS, model_for
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol

pytestmark = pytest.mark.virtual

TWO = Bounds(protocol=RebalanceProtocol.COOPERATIVE, members=2, partitions=2, generations=3, initial_delay=False)


@pytest.fixture(scope="module", params=["virtual:4.3.1", "virtual:3.9.2"])
def walks(request: pytest.FixtureRequest) -> Iterator[KafkaWalks]:
    made = KafkaWalks(request.param)
    yield made
    made.close()


def address(bounds: Bounds, *actions: tuple[ActionKind, int], mutant: str = "") -> str:
    return Path(model_for(bounds, mutant), bounds, tuple(Action(*action) for action in actions)).address()


JOINED = (
    (ActionKind.SEND_JOIN_GROUP, 0),
    (ActionKind.JOIN_GROUP, 0),
    (ActionKind.RECEIVE_JOIN_GROUP, 0),
    (ActionKind.SYNC_GROUP, 0),
    (ActionKind.RECEIVE_SYNC_GROUP, 0),
)


def test_a_walk__has_the_replies_of_both(walks: KafkaWalks) -> None:
    found = walks.follow(address(TWO, *JOINED))
    assert (found["whole"], found["divergence"]) == (True, "")
    replies = {step["action"]: (step["model"], step["kafka"]) for step in found["steps"] if step["coordinator"]}
    joined, synced = replies["JoinGroup m0"], replies["SyncGroup m0"]
    assert joined[0] == joined[1] == ["m0: JoinGroup NONE, generation 1, leader m0, m0 owns nothing"]
    assert synced[0] == synced[1] == ["m0: SyncGroup NONE, assigned t-0 t-1"]


def test_a_planted_defect_of_the_coordinator__parts_model_and_kafka(walks: KafkaWalks) -> None:
    mutant = MUTANTS["generation-is-reused"]
    found = explore(model_for(mutant.bounds, mutant.name), mutant.bounds, compiled=False)
    assert found.counterexample is not None
    followed = walks.follow(found.counterexample.address())
    assert not followed["whole"]
    assert followed["divergence"].startswith(f"step {followed['diverged']}, ")
