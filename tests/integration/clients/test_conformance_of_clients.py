"""Each ready client, built from its sources, does nothing wrong on the wire that its scoreboard does not show.

A shorter run than that of the scoreboard, on the embedded broker: the scenarios that tell the clients apart. The
processes are up to time, so a client is run again where it breaks something new: what both runs show fails the test,
and what one of them shows is a warning.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka", reason="the ready clients in Python need the extra 'brokers'")

from rebalance_check.cli import run
from rebalance_check.integration.kits.adapters.adapter import Adapter
from rebalance_check.integration.kits.adapters.ready import ADAPTERS
from rebalance_check.properties.history import read_history
from tests.integration.seen import assert_seen

pytestmark = pytest.mark.clients

SCOREBOARD = Path(__file__).parents[3] / "docs" / "clients"
SCENARIOS = ("joins", "kill", "static", "illegal-generation", "unknown-member-id", "coordinator-moves")

HELD_AT_LEAST = 15
"""So many claims each client is seen to keep, however old the protocol is that it speaks."""

FALSIFIABLE_AT_LEAST = 12
"""So many of its greens a change of a recorded history breaks."""

ALL = [(each.name, protocol) for each in ADAPTERS for protocol in each.protocols]
STATIC = {each.name for each in ADAPTERS if each.static_members}


def claims(report: dict[str, Any], outcome: str) -> dict[str, str]:
    return {row["claim"]: row["detail"] for row in report["rows"] if row["outcome"] == outcome}


def cut_short(report: dict[str, Any]) -> dict[str, str]:
    """The scenarios that did not come to their end, because the client hung or ended by itself."""
    return {name: report["unfinished"] for name in SCENARIOS if f"{name}: " in report["unfinished"]}


def known(name: str) -> set[str]:
    """The known faults of the scoreboard, under either protocol: most of a client is the same in both."""
    files = [SCOREBOARD / f"{each}-{protocol}.json" for each, protocol in ALL if each == name]
    return {word for file in files for word in wrong(json.loads(file.read_bytes()))}


def wrong(report: dict[str, Any]) -> dict[str, str]:
    """The faults of a run: the claims that are broken, and the scenarios that were cut short, each with its detail."""
    return claims(report, "violated") | cut_short(report)


@pytest.mark.parametrize(("name", "protocol"), ALL)
def test_a_client_breaks_nothing_new(
    name: str, protocol: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = [each for each in SCENARIOS if each != "static" or name in STATIC]
    scenarios = [word for each in chosen for word in ("--scenario", each)]

    def conform(folder: Path) -> dict[str, Any]:
        run(["conform", "client", "--adapter", name, "--protocol", protocol, "--out", str(folder), "--json",
             *scenarios])  # fmt: skip
        report: dict[str, Any] = json.loads(capsys.readouterr().out)
        return report

    def new(report: dict[str, Any]) -> dict[str, str]:
        return {word: detail for word, detail in wrong(report).items() if word not in known(name)}

    report = conform(tmp_path / "first")
    assert_seen("client kit", *map(read_history, (tmp_path / "first").glob("*.jsonl")))
    found = new(report)
    if found:
        again = new(conform(tmp_path / "second"))
        for word in found.keys() ^ again.keys():
            warnings.warn(f"{name}, {protocol}: in one of two runs: {word}: {(found | again)[word]}", stacklevel=1)
        found = {word: detail for word, detail in found.items() if word in again}
    assert found == {}, f"the histories stand in {tmp_path}"
    assert len(claims(report, "held")) >= HELD_AT_LEAST


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
def test_a_green_of_a_client_can_be_red(adapter: Adapter, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["conform", "client", "--adapter", adapter.name, "--protocol", adapter.protocols[-1], "--out",
         str(tmp_path), "--json", "--falsify", "--scenario", "joins"])  # fmt: skip
    held = claims(json.loads(capsys.readouterr().out), "held")
    assert all(detail.startswith("broken by ") for detail in held.values())
    assert len(held) >= FALSIFIABLE_AT_LEAST
