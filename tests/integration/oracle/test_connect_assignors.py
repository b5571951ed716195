"""Kafka's own Connect assignors: ours compute the same, round by round, in random histories of groups."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from rebalance_check.impl.connect.assignors.incremental import IncrementalAssignor
from rebalance_check.integration.comparison.assignors.search import search
from rebalance_check.integration.comparison.connect_assignors.compare import compare
from rebalance_check.integration.comparison.connect_assignors.figures import cost_of_changes
from rebalance_check.integration.comparison.connect_assignors.java import JavaConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.ours import OurConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.search import histories_for
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.assignment.connect_histories import SHAPES
from rebalance_check.properties.assignment.connect_rounds import CONNECT_ASSIGNORS, CONNECT_INCREMENTAL

pytestmark = pytest.mark.oracle

RELEASES = ["3.9.2", "4.3.1"]


@pytest.fixture(scope="module")
def releases() -> Iterator[list[JavaConnectAssignors]]:
    opened = [JavaConnectAssignors(version) for version in RELEASES]
    yield opened
    for one in opened:
        one.close()


def test_ours_equal_kafkas__in_bytes_owners_and_memory__on_ten_thousand_histories(
    releases: list[JavaConnectAssignors],
) -> None:
    results = list(compare(releases, list(SHAPES), range(10_000 // len(SHAPES))))
    assert [one.differences for one in results] == [[] for _ in results]
    for release in RELEASES:
        compared = [one for one in results if one.sides[0].endswith(release)]
        assert sum(one.counts["histories"] for one in compared) == 10_000
        assert sum(one.counts["rounds"] for one in compared) > 50_000


def test_ours_equal_an_older_release__by_its_rules() -> None:
    ours = OurConnectAssignors(lambda max_delay_ms: IncrementalAssignor(max_delay_ms, (3, 4)))
    with JavaConnectAssignors("3.4.0") as release:
        results = list(compare([release], list(SHAPES), range(60), ours=ours))
        assert [one.differences for one in results] == [[] for _ in results]
        assert any(one.differences for one in compare([release], ["tame"], range(60)))


@pytest.mark.parametrize("protocol", ["sessioned", "default"])
def test_ours_equal_kafkas__under_the_other_protocols(releases: list[JavaConnectAssignors], protocol: str) -> None:
    results = list(compare(releases, list(SHAPES), range(80), protocol=protocol))
    assert [one.differences for one in results] == [[] for _ in results]


def test_a_comparison_notices_another_delay(releases: list[JavaConnectAssignors]) -> None:
    """Whatever the history asks for, this assignor waits a millisecond less."""
    ours = OurConnectAssignors(lambda max_delay_ms: IncrementalAssignor(max(max_delay_ms - 1, 0)))
    for result in compare(releases, ["tame"], range(60), ours=ours):
        assert {one.kind for one in result.differences} == {"assignments"}
        assert len(result.differences[0].steps) <= 10


class Defect(NamedTuple):
    """One defect of a release: where it is found, in which release it is, and in which no more."""

    issue: str
    shape: str
    claim: str
    affected: str
    mended: str


DEFECTS = [
    Defect("KAFKA-9841", "returns", "duplicates_end", "2.5.0", "2.5.1"),
    Defect("KAFKA-9848", "failures", "waits_only_for_the_departed", "2.5.0", "2.5.1"),
    Defect("KAFKA-10413 part 1", "tame", "revokes_to_the_ceiling", "2.7.0", "2.7.1"),
    Defect("KAFKA-10413 part 2", "tame", "candidates_share", "2.7.0", "2.7.1"),
    Defect("KAFKA-12495", "tame", "balanced", "3.3.2", "3.4.0"),
    Defect("no delay at all", "returns", "complete", "3.4.0", "3.5.2"),
    Defect("routes of what is revoked", "tame", "owners_match", "2.7.1", "3.3.2"),
]


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda one: one.issue)
def test_a_defect_is_found_in_a_release_that_has_it__and_not_in_the_one_that_mends_it(defect: Defect) -> None:
    where = ([CONNECT_INCREMENTAL], [defect.shape], range(60))
    with JavaConnectAssignors(defect.affected) as affected, JavaConnectAssignors(defect.mended) as mended:
        (finding,) = search(histories_for(affected), *where, claims=(defect.claim,)).findings
        assert finding.broken.claim == defect.claim
        assert len(finding.input.steps) <= 10
        assert search(histories_for(mended), *where, claims=(defect.claim,)).findings == []


@pytest.mark.parametrize(
    ("shape", "claim", "seeds"), [("tame", "spread", range(40)), ("leaders", "nothing_left", range(160, 200))]
)
def test_what_kafka_leaves_open_to_this_day_is_found_when_it_is_asked_for(
    releases: list[JavaConnectAssignors], shape: str, claim: str, seeds: range
) -> None:
    for release in releases:
        (finding,) = search(histories_for(release), [CONNECT_INCREMENTAL], [shape], seeds, claims=(claim,)).findings
        assert len(finding.input.steps) <= 7


@pytest.mark.parametrize("assignor", CONNECT_ASSIGNORS)
def test_the_latest_releases_break_no_other_claim(releases: list[JavaConnectAssignors], assignor: str) -> None:
    for release in releases:
        assert search(histories_for(release), [assignor], list(SHAPES), range(40)).findings == []


def test_a_release_that_does_not_exist_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match=r"'2\.3\.0' is no release of Kafka Connect since 2\.4\.0"):
        JavaConnectAssignors("2.3.0")


def test_a_change_of_the_workers_costs_as_many_rounds_and_as_much_time_as_with_kafkas(
    releases: list[JavaConnectAssignors],
) -> None:
    ours = cost_of_changes(OurConnectAssignors(), range(20))
    assert [cost_of_changes(release, range(20)) for release in releases] == [ours, ours]
    assert ours["one comes back"].idle_ms < ours["one leaves, another joins"].idle_ms
    assert ours["one joins"].rounds > 20
