"""The page of a campaign: every run in the list, those that broke a claim first among the histories that it holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("jinja2", reason="the extra 'report' is not installed")

from rebalance_check import Event
from rebalance_check.cli import run
from rebalance_check.commands._console import Console
from rebalance_check.commands.run import Part, write_parts
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.execution import execute
from rebalance_check.model.registry import path_at
from rebalance_check.pipeline.fuzz import fuzz, judge_table
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.report.campaign_page import Campaign, campaign_page
from rebalance_check.report.paths import shown_path
from tests.parsed_page import ParsedPage

OPTIONS: Final = SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, mutant="revoked-partitions-kept")
CLAIM: Final = "callbacks_alternate"
SEEDS: Final = range(12)


def histories(seeds: Collection[int]) -> Iterator[tuple[int, Sequence[Event]]]:
    return ((seed, list(simulate(seed, OPTIONS))) for seed in seeds)


def page_of(most_events: int = 10**6) -> tuple[Any, list[int]]:
    """The data that the page embeds, and the seeds that break the claim."""
    result = fuzz(SEEDS, OPTIONS, invariants=[CLAIM], workers=1, list_runs=True)
    campaign = Campaign(result, ["twelve seeds"], histories, replay=lambda seed: f"again {seed}", again="another SEED")
    page = ParsedPage(campaign_page(campaign, most_events))
    return page.data("page"), list(result.failing_seeds)


def test_every_run_is_listed__with_its_verdict_and_length() -> None:
    page, failing = page_of()
    assert page["runs"]["names"] == [str(seed) for seed in SEEDS]
    verdicts = [page["verdicts"][verdict] for verdict in page["runs"]["verdicts"]]
    assert [seed for seed, verdict in enumerate(verdicts) if verdict == "violated"] == failing
    assert 0 < len(failing) < len(SEEDS)
    assert page["runs"]["events"] == [len(list(simulate(seed, OPTIONS))) for seed in SEEDS]
    assert page["signatures"][0]["runs"] == failing
    assert set(page["shown"]) == {str(seed) for seed in SEEDS}


def test_a_run_in_full__says_why__and_how_to_repeat_it() -> None:
    page, failing = page_of()
    shown = page["shown"][str(failing[0])]
    assert [found["claim"] for found in shown["findings"]] == [CLAIM]
    assert (shown["file"], shown["replay"]) == (f"seed-{failing[0]}.jsonl", f"again {failing[0]}")


def test_few_events__hold_the_shortest_run_that_broke_the_claim() -> None:
    page, failing = page_of(most_events=1)
    lengths = page["runs"]["events"]
    assert list(page["shown"]) == [str(min(failing, key=lambda seed: lengths[seed]))]
    assert page["again"] == "another SEED"


def test_runs_that_broke_a_claim__come_before_those_that_did_not() -> None:
    lengths = {seed: len(list(simulate(seed, OPTIONS))) for seed in SEEDS}
    _, failing = page_of(most_events=1)
    page, _ = page_of(most_events=sum(lengths[seed] for seed in failing))
    assert set(page["shown"]) == {str(seed) for seed in failing}


def test_memory_and_table__list_the_same_runs(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra 'tables' is not installed")
    in_memory = fuzz(SEEDS, OPTIONS, invariants=[CLAIM], workers=1, list_runs=True)
    on_table = fuzz(SEEDS, OPTIONS, invariants=[CLAIM], workers=1, list_runs=True, out=tmp_path / "table")
    judged = judge_table(tmp_path / "table", invariants=[CLAIM], workers=1, list_runs=True)
    assert in_memory.listed == on_table.listed == judged.listed
    assert len(in_memory.listed) == len(SEEDS)
    assert fuzz(SEEDS, OPTIONS, invariants=[CLAIM], workers=1).listed == ()


def command(*arguments: object) -> int:
    return run([str(argument) for argument in arguments])


def test_fuzz_and_judge__write_pages_of_the_same_runs(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra 'tables' is not installed")
    options = ["--invariant", CLAIM, "--html"]
    fuzzed = ["--seeds", "4:8", "--protocol", "cooperative", "--mutant", OPTIONS.mutant, "--workers", 1]
    assert command("fuzz", *fuzzed, "--out", tmp_path / "table", *options, tmp_path / "one.html") == 10
    assert command("judge", tmp_path / "table", *options, tmp_path / "other.html") == 10
    one, other = (ParsedPage((tmp_path / name).read_text(encoding="utf-8")) for name in ("one.html", "other.html"))
    for key in ("runs", "signatures", "verdicts"):
        assert one.data("page")[key] == other.data("page")[key]
    assert one.data("page")["runs"]["names"] == ["4", "5", "6", "7"]
    assert one.data("timeline-0") == other.data("timeline-0")
    assert one.data("page")["again"].startswith("rebalance-check fuzz --seeds SEED --html FILE ")


def test_a_whole_job__lists_its_parts__and_what_broke_in_them(tmp_path: Path) -> None:
    path = execute(path_at("v1/eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off/0.0.0.0.0"))
    held = Part("compare", "eager model and ours", "60 schedules", ExitCode.HELD, {})
    broken = Part("explore", "eager", "9 states", ExitCode.SAFETY, {}, shown=[shown_path(path, "one_leader")])
    write_parts(Console(as_json=True), tmp_path / "job.html", [broken, held])
    page = ParsedPage((tmp_path / "job.html").read_text(encoding="utf-8")).data("page")
    assert page["runs"]["names"] == ["explore eager", path.path.bounds.address(), "compare eager model and ours"]
    assert page["runs"]["notes"] == ["9 states", "", "60 schedules"]
    assert [page["verdicts"][verdict] for verdict in page["runs"]["verdicts"]] == ["violated", "violated", "held"]
    assert list(page["shown"]) == ["1"]
