"""franz-go's kfake, built from its sources, breaks no claim of the broker kit but those that its report shows broken,
and those of live clients that two of its defects break in some runs.

Live clients are up to time, so the kit runs again where it shows something new: what both runs show fails.
"""

from pathlib import Path

import pytest

pytest.importorskip("kafka", reason="the broker kit needs the extra 'brokers'")

from rebalance_check.impl.scenarios import scenarios_in
from rebalance_check.integration.brokers import open_broker
from rebalance_check.integration.kits.broker.kit import PARTS
from rebalance_check.integration.kits.broker.live_rows import SECTION as LIVE
from rebalance_check.integration.kits.broker.request_rows import SECTION as REQUESTS
from rebalance_check.integration.kits.broker.scenario_rows import play
from rebalance_check.integration.kits.brokers_of_others.known import other_broker
from rebalance_check.integration.kits.brokers_of_others.other_broker import running
from rebalance_check.integration.kits.report import KitReport
from rebalance_check.integration.kits.scoreboard import read_reports
from rebalance_check.properties.verdict import Outcome
from tests.integration.broker_kit import conform, target_of, violated

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

UP_TO_TIME = {
    "join_group_is_answered": "a member is removed while it waits in JoinGroup, and its request is never answered",
    "rebalance_completes": "that member waits until its request times out, longer than a run waits for its group",
    "one_leader": "every member of a generation is answered that it leads, when the leader of the last one is gone",
    "owned_equals_assigned": "of two members that are answered that they lead, the assignment of the first is kept",
}
"""Claims that live clients on kfake break in some runs, where a session ends in a rebalance: see TRACK_RECORD.md."""

WAITING_MEMBER = """
[a member that waits in JoinGroup does not expire]
join a session=3000 rebalance=20000  -> MEMBER_ID_REQUIRED a
join a session=3000 rebalance=20000  -> generation 1, leader a, members a
join b session=30000 rebalance=20000 -> MEMBER_ID_REQUIRED b
join b session=30000 rebalance=20000 -> waits
join a session=3000 rebalance=20000  -> generation 2, leader a, members a b; b: generation 2, leader a
sync a 2 give=a:A,b:B                -> NONE A
sync b 2                             -> NONE B
join a session=3000 rebalance=20000  -> waits
advance 4000
members                              -> a b
join b session=30000 rebalance=20000 -> generation 3, leader a; a: generation 3, leader a, members a b
"""
"""As Kafka does: it takes a member whose JoinGroup waits for alive (`ClassicGroupMember.hasSatisfiedHeartbeat`)."""


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
    """Findings of a report that the published one lacks: violated claims, and why it did not come to its end.

    The random requests that show a difference depend on the Kafka that is there to compare with; so they are left out.
    """
    known = violated(published)
    found = {claim: row.detail for claim, row in violated(report).items() if claim not in known}
    left_out = {row.claim for row in report.sections.get(REQUESTS, ())}
    left_out |= {row.claim for row in report.sections.get(LIVE, ()) if row.claim in UP_TO_TIME}
    ended = {"unfinished": report.unfinished} if report.unfinished else {}
    return {claim: detail for claim, detail in found.items() if claim not in left_out} | ended


def test_a_member_that_waits_in_join_group_expires_on_kfake(tmp_path: Path) -> None:
    (scenario,) = scenarios_in(WAITING_MEMBER)
    with running(other_broker("kfake"), {"t": 4}) as address, open_broker(address) as kfake:
        on_kfake = play(target_of(kfake, tmp_path), scenario, "a-topic")
    with open_broker("embedded") as ours:
        on_ours = play(target_of(ours, tmp_path), scenario, "a-topic")

    expected = [line.expected for line in scenario.lines]
    shown = [line.step for line in scenario.lines].index("members")
    assert on_ours == expected
    assert on_kfake[:shown] == expected[:shown]
    assert on_kfake[shown:] == ["b", "generation 3, leader b, members b"]
