"""``live --known``: the user's own list counts as what is built in; limits end runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka", reason="live clients need the extra 'brokers'")

from rebalance_check.cli import run
from rebalance_check.commands import _live_runs
from rebalance_check.commands._live_runs import LiveJudged, LiveRuns
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.live.settings import ClientName
from rebalance_check.model.vocabulary.events import Event
from tests.integration.test_live_known import revoked_twice

KAFKA_PYTHON, LIBRDKAFKA, *_ = ClientName
LIST = """
[[known]]
claim = "callbacks_alternate"
finding = "t-# was revoked from m#, *"
of = "librdkafka 2.16.1"
reason = "seen by us"

[[known]]
claim = "one_leader"
reason = "repaired"
"""
Live = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def live(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Live:
    """Runs ``live`` with these events as the history of each seed."""
    (tmp_path / "known.toml").write_text(LIST, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def call(seen: list[Event], *arguments: str) -> tuple[int, dict[str, Any], str]:
        monkeypatch.setattr(LiveRuns, "history", lambda *_arguments: seen)
        capsys.readouterr()
        code = run(["live", "--json", "--out", "histories", *arguments])
        said = capsys.readouterr()
        return code, json.loads(said.out), said.err

    return call


def test_what_the_list_accounts_for_is_shown_apart_and_counts_for_nothing(live: Live) -> None:
    code, document, shown = live(revoked_twice(LIBRDKAFKA), "--known", "known.toml")
    ((known,),) = [history["known"] for history in document["histories"]]
    assert (code, document["verdict"]) == (0, "held")
    assert (known["of"], known["reason"], known["client"]) == ("librdkafka 2.16.1", "seen by us", None)
    assert [entry["invariant"] for entry in document["known_not_seen"]] == ["one_leader"]
    assert "known of librdkafka 2.16.1: callbacks_alternate: t-0 was revoked" in shown
    assert "not seen: known: one_leader; if it does not come back, delete the entry" in shown
    assert "first finding" not in shown


def test_what_is_not_in_the_list_is_a_violation_and_said_at_once(live: Live) -> None:
    code, document, shown = live(revoked_twice(LIBRDKAFKA))
    assert (code, document["verdict"]) == (10, "violated")
    assert "first finding: histories/eager-0.jsonl: callbacks_alternate: t-0 was revoked" in shown


def test_stop_at_first_ends_at_the_first_new_finding(live: Live) -> None:
    _, document, _ = live(revoked_twice(LIBRDKAFKA), "--seeds", "0:5", "--stop-at-first")
    assert document["runs"] == 1
    _, document, _ = live(revoked_twice(KAFKA_PYTHON), "--seeds", "0:3", "--stop-at-first")
    assert document["runs"] == 3


def test_minutes_end_the_runs(live: Live) -> None:
    _, document, _ = live(revoked_twice(KAFKA_PYTHON), "--minutes", "0.005")
    assert 0 < document["runs"] < 1_000


def test_runs_that_are_ended_say_what_they_did_and_where_it_is_kept(
    live: Live, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    live(revoked_twice(LIBRDKAFKA))  # what a run is replaced by is set
    judged = _live_runs.live_run
    seeds: list[int] = []

    def interrupted(broker: Broker, runs: LiveRuns, seed: int) -> LiveJudged:
        seeds.append(seed)
        if len(seeds) == 3:
            raise KeyboardInterrupt
        return judged(broker, runs, seed)

    monkeypatch.setattr(_live_runs, "live_run", interrupted)
    assert run(["live", "--seeds", "0:5", "--out", "histories"]) == 130
    said = capsys.readouterr()
    assert "histories/eager-0" in said.out
    assert said.err.endswith("ended by SIGINT; 2 runs are judged, 2 found something; histories are kept in histories\n")
