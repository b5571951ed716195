"""Each ready client, built from its sources, breaks no claim about the wire but those that its scoreboard shows broken.

A shorter run than that of the scoreboard, on the embedded broker: the scenarios that tell the clients apart. What
processes do is up to time, so a client is run again where it breaks something new: what both runs show fails the test,
and what one of them shows is a warning.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka", reason="the ready clients in Python need the extra 'brokers'")

from rebalance_check.cli import run
from rebalance_check.integration.kits.adapters.ready import ADAPTERS

pytestmark = pytest.mark.clients

SCOREBOARD = Path(__file__).parents[3] / "docs" / "clients"
SCENARIOS = ("joins", "kill", "static", "illegal-generation", "unknown-member-id", "coordinator-moves")

HELD_AT_LEAST = 15
"""So many claims each client is seen to keep, however old the protocol is that it speaks."""

ALL = [(each.name, protocol) for each in ADAPTERS for protocol in each.protocols]
STATIC = {each.name for each in ADAPTERS if each.static_members}


def claims(report: dict[str, Any], outcome: str) -> dict[str, str]:
    return {row["claim"]: row["detail"] for row in report["rows"] if row["outcome"] == outcome}


def known(name: str) -> set[str]:
    """The claims that the scoreboard shows broken, under either protocol: most of a client is the same in both."""
    reports = [SCOREBOARD / f"{each}-{protocol}.json" for each, protocol in ALL if each == name]
    return {claim for file in reports for claim in claims(json.loads(file.read_bytes()), "violated")}


@pytest.mark.parametrize(("name", "protocol"), ALL)
def test_a_client_breaks_nothing_new(
    name: str, protocol: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = [each for each in SCENARIOS if each != "static" or name in STATIC]
    scenarios = [word for each in chosen for word in ("--scenario", each)]

    def conform(folder: Path) -> dict[str, Any]:
        run(["conform", "client", "--adapter", name, "--protocol", protocol, "--history", str(folder), "--json",
             *scenarios])  # fmt: skip
        report: dict[str, Any] = json.loads(capsys.readouterr().out)
        return report

    report = conform(tmp_path / "first")
    found = wrong(name, report)
    if found:
        again = wrong(name, conform(tmp_path / "second"))
        for claim in found.keys() ^ again.keys():
            warnings.warn(f"{name}, {protocol}: in one of two runs: {claim}: {(found | again)[claim]}", stacklevel=1)
        found = {claim: detail for claim, detail in found.items() if claim in again}
    assert found == {}, f"the histories stand in {tmp_path}"
    assert len(claims(report, "held")) >= HELD_AT_LEAST


def wrong(name: str, report: dict[str, Any]) -> dict[str, str]:
    """What a run shows that its scoreboard does not: claims that are broken, and why a run did not come to its end."""
    new = {claim: detail for claim, detail in claims(report, "violated").items() if claim not in known(name)}
    return new | ({"unfinished": report["unfinished"]} if report["unfinished"] else {})


def test_each_report_of_the_scoreboard_is_of_a_client_that_is_run() -> None:
    assert {file.stem for file in SCOREBOARD.glob("*.json")} <= {f"{name}-{protocol}" for name, protocol in ALL}
