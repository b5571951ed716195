"""The scenarios of our coordinator, run on Kafka's own: each runs as it is written, but for those that are listed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.scenarios import Scenario, answers_to, scenarios_in
from rebalance_check.impl.steered.coordinator import SteeredCoordinator
from rebalance_check.integration.comparison.requests.known import KNOWN as OF_REQUESTS
from rebalance_check.integration.comparison.requests.known import OF_LIVE_KAFKA_3
from rebalance_check.integration.comparison.scenarios.known import KNOWN
from rebalance_check.integration.comparison.to_model.known import KNOWN as OF_MODEL
from rebalance_check.integration.virtual import VirtualKafka
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator, member_ids_of

SCENARIOS = Path(__file__).parents[2] / "data" / "coordinator"
DIFFERENCES = Path(__file__).parents[3] / "docs" / "differences.md"
SEED = 7

NUMBERED = re.compile(r"\b(\w+)-(0{30}\d{6})")
ENTRIES_BEFORE_V3 = re.compile(r"^(leave .*version=[0-2]\b.* -> .*) \(.*\)$")


def scenarios() -> Iterator[tuple[str, Scenario]]:
    for path in sorted(SCENARIOS.glob("*.scenario")):
        for scenario in scenarios_in(with_kafkas_ids(path.read_text(encoding="utf-8")), path.name):
            yield f"{path.stem}: {scenario.title}", scenario


def with_kafkas_ids(text: str) -> str:
    """Where a scenario names the n-th member id that was made, the n-th that Kafka makes."""

    def drawn(match: re.Match[str]) -> str:
        make = member_ids_of(SEED)
        return [make(match[1]) for _ in range(int(match[2]))][-1]

    return NUMBERED.sub(drawn, text)


def runs_as_written(kafka: VirtualKafka, scenario: Scenario) -> bool:
    cast: list[VirtualCoordinator] = []

    def virtual(config: GroupConfig) -> SteeredCoordinator:
        cast.append(VirtualCoordinator(kafka, config, SEED))
        return cast[0]

    try:
        seen = scenario.answered(answers_to(scenario, virtual))
    finally:
        cast[0].close()
    # The wire has no entries before LeaveGroup v3: what they said is the error of the reply.
    return [ENTRIES_BEFORE_V3.sub(r"\1", line) for line in scenario.expected()] == seen


@pytest.mark.virtual
def test_every_scenario_runs_as_it_is_written__but_for_those_listed(kafka: VirtualKafka) -> None:
    differing = {title for title, scenario in scenarios() if not runs_as_written(kafka, scenario)}

    listed = {title for entry in KNOWN if entry.concerns(kafka.release) for title in entry.examples}
    assert differing == listed


def test_the_page_on_differences_names_every_known_one() -> None:
    page = " ".join(DIFFERENCES.read_text(encoding="utf-8").split()).lower()

    assert [
        entry.name for entry in (*KNOWN, *OF_MODEL, *OF_REQUESTS, *OF_LIVE_KAFKA_3) if entry.name.lower() not in page
    ] == []
