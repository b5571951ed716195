"""The config topic in the model: pinned counts, what holds, KAFKA-17719 and the settings that mend it, mutants."""

import pytest

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.connect.config.model import MODEL
from rebalance_check.model.connect.config.mutants import CONFIG_MUTANTS
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from tests.model.connect_models import (
    breaks_liveness,
    caught,
    every_claim_has_a_mutant,
    exhausted,
    guards_touch_nothing,
    held,
    reach_everything,
    shortest,
)

HOLDS = [
    # bounds, distinct, generated, depth
    ("connect-config?members=2&partitions=2&crashes=0&compactions=0", 319, 561, 22),
    ("connect-config?members=2&partitions=2", 2_759, 6_882, 29),
    ("connect-config?members=2&partitions=2&crashes=0&writes=4&task_rewrites", 3_909, 8_629, 32),
    ("connect-config?members=2&partitions=1&crashes=0&writes=5&task_rewrites", 1_767, 3_716, 29),
    ("connect-config?members=2&partitions=2&crashes=0&expiries=1&compactions=0&fencing", 885, 1_724, 21),
    ("connect-config?members=3&partitions=1&crashes=0&compactions=1", 511, 1_323, 22),
]
"""Topics in which every claim holds; a change here is a change of the protocol, to be explained in the commit."""

BROKEN = [
    # bounds, broken claim, steps of the shortest counterexample
    ("connect-config?members=2&partitions=1&crashes=0&writes=4", "snapshots_agree", 15),
    ("connect-config?members=2&partitions=2&crashes=0&expiries=1&compactions=0", "listed_tasks_are_of_one_write", 13),
]
"""A connector config that is changed alone, then compaction (KAFKA-17719); two leaders that write at once (KIP-618)."""


@pytest.mark.parametrize(("address", "distinct", "generated", "depth"), HOLDS)
def test_the_topic_is_exhausted__and_every_claim_holds(address: str, distinct: int, generated: int, depth: int) -> None:
    exhausted(MODEL, address, distinct, generated, depth)


@pytest.mark.parametrize(("address", "claim", "steps"), BROKEN)
def test_what_kafka_breaks_is_a_shortest_counterexample(address: str, claim: str, steps: int) -> None:
    shortest(MODEL, address, claim, steps)


@pytest.mark.parametrize(("address", "setting"), [(BROKEN[0][0], "task_rewrites"), (BROKEN[1][0], "fencing")])
def test_a_setting_mends_what_kafka_breaks(address: str, setting: str) -> None:
    held(MODEL, f"{address}&{setting}")


def test_the_worker_that_starts_after_the_compaction_has_lost_the_tasks() -> None:
    """The order that KAFKA-17719 describes: task configs and commit lie before the connector that they belong to."""
    path = shortest(MODEL, *BROKEN[0])
    kinds = [action.kind for action in path.actions]
    cleaned = kinds.index(ActionKind.COMPACT_TOPIC)
    assert kinds[:cleaned].count(ActionKind.WRITE_CONNECTOR) == 3
    assert {action.member for action in path.actions[cleaned + 1 : -1]} == {1}
    last = path.run().states[-1]
    late, early = last.workers[1], last.workers[0]
    assert (late.connector, late.count, late.committed[0], late.inconsistent) == (early.connector, 0, 0, 0)
    assert early.count == 1


def test_what_the_topic_must_reach_is_reached() -> None:
    """Each in the smallest bounds in which it happens."""
    places = {
        "connect-config?members=2&partitions=2": {
            "snapshot_is_inconsistent", "writer_died_between_tasks_and_commit", "surplus_config_is_kept",
            "connector_is_created_again",
        },
        HOLDS[2][0]: {"connector_lost_its_tasks", "lagging_reader_mixes_writes"},
        HOLDS[3][0]: {"tombstone_is_compacted"},
    }  # fmt: skip
    reach_everything(MODEL, places)


# ------------------------------------------------------------------------------------------------ mutants

SAFETY_MUTANTS = [mutant for mutant in CONFIG_MUTANTS if not mutant.liveness]
LIVENESS_MUTANTS = [mutant for mutant in CONFIG_MUTANTS if mutant.liveness]


@pytest.mark.parametrize("mutant", SAFETY_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught_by_the_claim_it_names__and_the_healthy_model_breaks_nothing(mutant: ModelMutant) -> None:
    caught(MODEL, mutant)


def test_every_claim_has_a_mutant_that_breaks_it() -> None:
    every_claim_has_a_mutant(MODEL, CONFIG_MUTANTS)


@pytest.mark.parametrize("mutant", LIVENESS_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_breaks_the_liveness_it_names__and_the_healthy_model_none(mutant: ModelMutant) -> None:
    breaks_liveness(MODEL, mutant)


def test_a_guard_that_says_no_has_not_touched_the_state() -> None:
    bounds = Bounds.from_address("connect-config?members=3&partitions=2&writes=8&crashes=1&expiries=1&compactions=2")
    guards_touch_nothing(MODEL, bounds, seed=7, runs=40, steps=60)


# ------------------------------------------------------------------------------------------------ compiled


def test_the_compiled_model_is_the_interpreted_one() -> None:
    exhausted(MODEL, *HOLDS[1], compiled=True)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("address", "distinct"),
    [
        ("connect-config?members=2&partitions=2&writes=4&task_rewrites", 32_618),
        ("connect-config?members=2&partitions=1&writes=6&task_rewrites", 78_083),
    ],
)
def test_larger_topics_hold(address: str, distinct: int) -> None:
    assert held(MODEL, address, compiled=True).distinct == distinct
