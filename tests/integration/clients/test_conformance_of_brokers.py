"""franz-go's kfake, built from its sources, breaks no claim of the broker kit but those that its report shows broken.

What live clients do is up to time, so the kit runs again where it shows something new: what both runs show fails.
"""

from pathlib import Path

import pytest

pytest.importorskip("kafka", reason="the broker kit needs the extra 'brokers'")

from rebalance_check.integration.brokers import open_broker
from rebalance_check.integration.kits.broker.kit import PARTS
from rebalance_check.integration.kits.broker.request_rows import SECTION
from rebalance_check.integration.kits.brokers_of_others.known import other_broker
from rebalance_check.integration.kits.brokers_of_others.other_broker import running
from rebalance_check.integration.kits.report import KitReport
from rebalance_check.integration.kits.scoreboard import read_reports
from rebalance_check.properties.verdict import Outcome
from tests.integration.broker_kit import conform, violated

pytestmark = pytest.mark.clients

SCOREBOARD = Path(__file__).parents[3] / "docs" / "brokers"

HELD_AT_LEAST = {
    "versions": 6,
    "transitions of the model": 5,
    "scenarios": 50,
    "random requests": 1,
    "live clients": 18,
}
"""So many claims of each part kfake is seen to keep."""


def test_kfake_breaks_nothing_new(tmp_path: Path) -> None:
    broker = other_broker("kfake")
    (published,) = read_reports([SCOREBOARD / "kfake.json"])
    assert published.subject == broker.title, "write the report of this release: see docs/brokers.md"
    with running(broker, {"t": 4}) as address, open_broker(address) as opened:
        report = conform(opened, tmp_path, tuple(PARTS))
        found = new(report, published)
        again = new(conform(opened, tmp_path / "again", tuple(PARTS)), published) if found else {}

    assert {claim: detail for claim, detail in found.items() if claim in again} == {}
    held = {name: sum(row.outcome is Outcome.HELD for row in rows) for name, rows in report.sections.items()}
    assert {name: held[name] for name, least in HELD_AT_LEAST.items() if held[name] < least} == {}


def new(report: KitReport, published: KitReport) -> dict[str, str]:
    """What a report shows that the published one does not: violated claims, and why it did not come to its end.

    Which random requests show a difference depends on the Kafka that is there to compare with; so they are left out.
    """
    known = violated(published)
    found = {claim: row.detail for claim, row in violated(report).items() if claim not in known}
    of_requests = {row.claim for row in report.sections.get(SECTION, ())}
    ended = {"unfinished": report.unfinished} if report.unfinished else {}
    return {claim: detail for claim, detail in found.items() if claim not in of_requests} | ended
