"""Real logs of caused problems: causes, durations, owners and findings agree with the members' own record.

Each sample is of a run on a real broker with real clients; `truth.json` has, from the callbacks of the members on one
clock, the times without owner and with two, and the rebalances as the broker logged them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, GroupDiagnosis, diagnose
from rebalance_check.pipeline.diagnose.ownership import overlaps
from rebalance_check.pipeline.diagnose.timeline import known_gaps

DATA: Final = Path("tests/data/diagnose")
LOGS: Final = DATA / "logs"
TRUTH: Final[dict[str, Any]] = json.loads((DATA / "truth.json").read_text("utf-8"))
NEAR_MS: Final = 60
"""Between a callback and the line of the client's log."""
NEW, CLOSED, POLL = "a new member", "a member closed", "a member did not poll in time"
EXPIRED, FOLLOW_UP = "a member's session timed out", "a follow-up of the cooperative protocol"
METADATA, ENFORCED = "topics or partitions changed", "the application asked for it"
LEFT: Final = "a member left"


@dataclass(frozen=True)
class Sample:
    """The causes of its rebalances, its findings as (rule, severity), and the exit code."""

    causes: tuple[str, ...]
    findings: frozenset[tuple[str, str]]
    code: int = 0


CHURN: Final = (NEW, NEW, NEW, CLOSED, EXPIRED)
SAMPLES: Final = {
    "orders-churn": Sample(
        (*CHURN, METADATA, ENFORCED, CLOSED),
        frozenset({("expired-member", "note"), ("needless-rebalance", "note")}),
    ),
    "bill-holdup": Sample((NEW, NEW, CLOSED, CLOSED), frozenset({("held-up", "cost")})),
    "stock-static": Sample(
        (NEW, EXPIRED),
        frozenset({("fenced-instance", "fault"), ("expired-member", "note"), ("zombie-owner", "cost")}),
        11,
    ),
    "pay-polltimeout": Sample(
        (NEW, NEW, POLL, NEW, CLOSED),
        frozenset({("poll-timeout", "cost"), ("zombie-owner", "cost"), ("refused-commits", "note")}),
    ),
    "ship-upgrade": Sample(
        (NEW, CLOSED, NEW, CLOSED, NEW, CLOSED, NEW, CLOSED, NEW, FOLLOW_UP, NEW, FOLLOW_UP, EXPIRED, CLOSED),
        frozenset({("expired-member", "note")}),
    ),
}  # fmt: skip
OF_3_9: Final = {
    "pay-polltimeout": frozenset({("settings", "cost")}),  # 3.9 logs the timeouts of members that leave, 4.x does not
    "newcoord-churn": frozenset[tuple[str, str]](),
}


def diagnosed(release: str, sample: str, *, clients: bool = True) -> Diagnosis:
    broker = LOGS / "broker" / release / f"{sample}.log"
    of_clients = sorted((LOGS / "client" / f"java-{release}").glob(f"{sample}-*.log")) if clients else []
    return diagnose([broker, *of_clients], [sample])


def only_group(diagnosis: Diagnosis) -> GroupDiagnosis:
    (group,) = diagnosis.groups
    return group


def causes(group: GroupDiagnosis) -> tuple[str, ...]:
    return tuple(str(one.trigger.cause) for one in group.group.rebalances)


def findings(group: GroupDiagnosis) -> set[tuple[str, str]]:
    return {(finding.rule.name, finding.severity.value) for finding in group.findings}


@pytest.mark.parametrize("release", ["3.9.2", "4.3.1"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_causes_and_findings_of_a_sample(release: str, sample: str) -> None:
    diagnosis = diagnosed(release, sample)
    group = only_group(diagnosis)
    extra = OF_3_9.get(sample, frozenset()) if release == "3.9.2" else frozenset()
    assert causes(group) == SAMPLES[sample].causes
    assert findings(group) == SAMPLES[sample].findings | extra
    assert diagnosis.exit_code() == SAMPLES[sample].code


@pytest.mark.parametrize("release", ["3.9.2", "4.3.1"])
def test_a_storm_is_one_finding__with_its_consequences_under_it(release: str) -> None:
    diagnosis = diagnosed(release, "mail-storm")
    group = only_group(diagnosis)
    storm, *others = group.findings
    assert (storm.rule.name, diagnosis.exit_code()) == ("storm", 11)
    assert set(storm.members) == {"m1", "m2", "m3"}
    assert POLL in storm.cause
    assert "max.poll.records" in storm.to_do
    assert {finding.rule.name for finding in others} <= {"settings"}
    assert any("did not poll" in title for title in storm.consequences)


def test_a_coordinator_that_is_away_causes_no_rebalance() -> None:
    group = only_group(diagnosed("3.9.2", "cart-restart"))
    (finding,) = group.findings
    assert (finding.rule.name, finding.severity.value) == ("coordinator-away", "cost")
    assert "no rebalance followed" in finding.cause


def test_a_starting_broker_causes_a_rebalance() -> None:
    group = only_group(diagnosed("4.3.1", "cart-restart"))
    assert findings(group) == {("metadata-changes", "cost"), ("coordinator-away", "note")}


def test_kafka_2_8_has_no_reasons_of_clients() -> None:
    group = only_group(diagnosed("2.8.2", "old-churn"))
    assert causes(group) == (NEW, NEW, NEW, LEFT, EXPIRED, METADATA, LEFT)
    assert findings(group) == {("expired-member", "note")}


def test_a_group_of_the_new_protocol_is_counted__not_judged() -> None:
    diagnosis = diagnosed("3.9.2", "net-848")
    group = only_group(diagnosis)
    assert (group.group.modern_kind, group.group.rebalances, diagnosis.exit_code()) == ("consumer", [], 0)


# ------------------------------------------------------------------------------------------------------------ the truth


def with_rebalances() -> Iterator[str]:
    return (name for name, truth in TRUTH.items() if truth["rebalances"] and "848" not in name)


@pytest.mark.parametrize("name", sorted(with_rebalances()))
def test_generations_and_durations_are_those_that_the_broker_logged(name: str) -> None:
    release, sample = name.split("/")
    group = only_group(diagnosed(release, sample, clients=False)).group
    for one, logged in zip(group.rebalances, TRUTH[name]["rebalances"], strict=False):
        assert (one.generation, one.join_ms if not one.emptied else None) == (
            logged["generation"],
            logged.get("join_ms"),
        )
        assert one.sync_ms == logged.get("sync_ms") or one.superseded or one.emptied


def with_owners() -> Iterator[str]:
    for name in TRUTH:
        release, sample = name.split("/")
        if sorted((LOGS / "client" / f"java-{release}").glob(f"{sample}-*.log")):
            yield name


@pytest.mark.parametrize("name", sorted(with_owners()))
def test_times_without_owner_and_with_two_are_those_of_the_members(name: str) -> None:
    release, sample = name.split("/")
    group = only_group(diagnosed(release, sample)).group
    truth = TRUTH[name]
    for gap in known_gaps(group):
        lengths = truth["without_owner_ms"].get(gap.partition, [])
        # the members' record ends before they close, which their logs show
        is_at_end = gap.begin_ms > max(span.begin_ms for span in group.spans) - 20_000
        assert is_at_end or any(abs(gap.length_ms - length) <= NEAR_MS for length in lengths), (gap, lengths)
    found = {overlap.later.partition for overlap in overlaps(group.spans, max(group.tolerance_ms(), 1))}
    assert found == set(truth["two_owners_ms"])
