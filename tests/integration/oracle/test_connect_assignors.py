"""Kafka's own Connect assignors: ours compute the same, round by round, in random histories of groups."""

from collections.abc import Iterator

import pytest

from rebalance_check.impl.connect.assignors.incremental import IncrementalAssignor
from rebalance_check.integration.oracle.connect.compare import compare
from rebalance_check.integration.oracle.connect.java import JavaConnectAssignors
from rebalance_check.integration.oracle.connect.ours import OurConnectAssignors
from rebalance_check.properties.assignment.connect_histories import SHAPES

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
        assert sum(one.histories for one in results if one.release == release) == 10_000
        assert sum(one.rounds for one in results if one.release == release) > 50_000


@pytest.mark.parametrize("protocol", ["sessioned", "default"])
def test_ours_equal_kafkas__under_the_other_protocols(releases: list[JavaConnectAssignors], protocol: str) -> None:
    results = list(compare(releases, list(SHAPES), range(80), protocol=protocol))
    assert [one.differences for one in results] == [[] for _ in results]


def test_a_comparison_notices_another_delay(releases: list[JavaConnectAssignors]) -> None:
    """Whatever the history asks for, this assignor waits a millisecond less."""
    ours = OurConnectAssignors(lambda max_delay_ms: IncrementalAssignor(max(max_delay_ms - 1, 0)))
    for result in compare(releases, ["tame"], range(60), ours=ours):
        assert {one.what for one in result.differences} == {"assignments"}
