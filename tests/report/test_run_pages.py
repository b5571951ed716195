"""The pages of runs, without a browser: what they embed, and that nothing in them is markup, code or an address."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_check import Event, NoDoubleOwnership, RevokedBeforeReassigned, judge
from rebalance_check.model.execution import execute
from rebalance_check.model.registry import path_at
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.signatures import shape_of
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.pages.run_pages import Broken, ListedRun, run_page
from rebalance_check.report.paths import shown_path
from rebalance_check.report.shown_histories import shown_history
from tests.parsed_page import ParsedPage
from tests.two_owners import history_with_two_owners

HOSTILE = "</script><script>alert(1)</script><!--\u202e\x07&lt;\"'`${1}"


def page_of(name: str, history: list[Event], judgement: Judgement) -> str:
    return run_page([ListedRun.of(shown_history(name, [Path(name)], history, judgement))])


@pytest.fixture
def double_ownership() -> list[Event]:
    return history_with_two_owners()


@pytest.fixture
def violated_page(double_ownership: list[Event]) -> ParsedPage:
    judgement = judge(double_ownership, [NoDoubleOwnership, RevokedBeforeReassigned])
    return ParsedPage(page_of("history.jsonl", double_ownership, judgement))


def test_a_violated_history__has_its_findings_with_the_steps_they_name(violated_page: ParsedPage) -> None:
    (facts,) = violated_page.data("page")["shown"].values()
    assert [(found["claim"], found["step"]) for found in facts["findings"]] == [
        ("revoked_before_reassigned", 16),
    ]
    *reasons, then = facts["findings"][0]["because"]
    assert f"step {reasons[-1]['step']}" in reasons[-1]["text"]
    assert then["text"] == "then no_double_ownership: t-1 is owned by m0 and m1 in generation 2"
    assert (facts["file"], facts["seed"]) == ("history.jsonl", "7")


def test_a_history__has_a_lane_for_coordinator_members_and_partitions(violated_page: ParsedPage) -> None:
    timeline = violated_page.data("timeline-0")
    assert [(lane["kind"], lane["name"]) for lane in timeline["lanes"]] == [
        ("coordinator", "coordinator"),
        ("member", "m0"),
        ("member", "m1"),
        ("partition", "t-0"),
        ("partition", "t-1"),
    ]
    t1 = timeline["lanes"][-1]
    assert [timeline["cells"][text] for text in t1["texts"]] == ["m0", "m0 + m1"]
    assert t1["rows"] == [8, 9]  # at step 9, and 9 steps later
    assert dict(zip(timeline["cells"], timeline["tones"], strict=True))["Stable g1"] == "stable"


def test_several_groups__have_lanes_of_their_own(double_ownership: list[Event]) -> None:
    other = [renamed(event, "h") for event in double_ownership if event.source == "m1"]
    history = [*double_ownership, *other]
    parsed = ParsedPage(page_of("x", history, judge(history, [NoDoubleOwnership])))
    lanes = parsed.data("timeline-0")["lanes"]
    assert {lane["group"] for lane in lanes} == {"g", "h"}
    assert [lane["name"] for lane in lanes if lane["group"] == "h"] == ["m1", "t-1"]


def renamed(event: Event, group: str) -> Event:
    return type(event)(**{name: getattr(event, name) for name in event.__dataclass_fields__} | {"group": group})


def test_hostile_text__is_text(double_ownership: list[Event]) -> None:
    history = [renamed(event, HOSTILE) for event in double_ownership]
    run = shown_history(HOSTILE, [Path(HOSTILE)], history, judge(history, [NoDoubleOwnership]))
    text = run_page([ListedRun.of(run)], about=[HOSTILE], title=HOSTILE)
    assert "<script>alert" not in text
    assert all(char.isprintable() or char == "\n" for char in text)
    parsed = ParsedPage(text)
    assert parsed.data("page")["runs"]["names"] == [HOSTILE]
    assert json.dumps(HOSTILE) in parsed.data("timeline-0")["events"]["texts"] or any(
        json.loads(each) == HOSTILE for each in parsed.data("timeline-0")["events"]["texts"]
    )
    assert html.escape(HOSTILE.split("\u202e", maxsplit=1)[0], quote=False) in text


def test_a_page__loads_nothing__and_runs_its_own_scripts_alone(violated_page: ParsedPage) -> None:
    addresses = [
        (tag, value)
        for tag, attributes in violated_page.elements
        for name, value in attributes.items()
        if name in {"src", "href", "srcset", "action", "data"}
    ]
    assert addresses == [("link", "data:,")]
    (policy,) = [
        str(attributes["content"])
        for _, attributes in violated_page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    codes = [name for name in violated_page.scripts if name.isdigit()]
    assert policy.count("'sha256-") == len(codes) + 1  # and the style


def test_a_path_of_the_model__is_shown_with_the_events_of_each_step() -> None:
    address = "v1/eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off/0.0.0.0.0"
    run = execute(path_at(address))
    parsed = ParsedPage(run_page([ListedRun.of(shown_path(run, "one_leader"))]))
    (facts,) = parsed.data("page")["shown"].values()
    timeline = parsed.data("timeline-0")
    assert timeline["steps"] == len(run.actions) == 5
    assert timeline["counts"] == [len(events) for events in run.events]
    assert (facts["findings"][0]["step"], facts["file"]) == (5, "")


def test_findings_of_one_shape__are_one_signature__the_most_frequent_first() -> None:
    def run(name: str, *headlines: str) -> ListedRun:
        broken = [Broken("no_double_ownership", "each has one owner", headline) for headline in headlines]
        return ListedRun(name, Outcome.VIOLATED if broken else Outcome.HELD, 10, broken)

    listed = [
        run("0", "m0 is a zombie"),
        run("1"),
        run("2", "t-1 is owned by m0 and m1 in generation 2", "t-0 is owned by m2 and m1 in generation 12"),
        run("3", "t-5 is owned by m3 and m10 in generation 7"),
    ]
    found = ParsedPage(run_page(listed)).data("page")["signatures"]
    assert [(each["shape"], each["runs"]) for each in found] == [
        ("t-# is owned by m# and m# in generation #", [2, 3]),
        ("m# is a zombie", [0]),
    ]


HASHED = """
import hashlib
from rebalance_check import events
from rebalance_check.report.pages.columns import Templates
from rebalance_check.report.pages.render import embedded
from rebalance_check.report.pages.timeline import timeline_document

def holds(member, owned):
    return events.AssignmentCompleted(group="g", source=member, member=member, generation=1, owned=owned)

even, odd = (tuple(f"t-{number}" for number in range(first, 8, 2)) for first in (0, 1))
history = [*(holds(f"n{thing}", (thing,)) for thing in even), holds("m0", odd), holds("m0", even)]
document = timeline_document([("", [event]) for event in history], Templates())
print(hashlib.sha256(str(embedded(document)).encode()).hexdigest())
"""
"""At the last event eight partitions change hands, and each gets a text of its own."""


def test_one_history__makes_one_page__whatever_the_order_of_sets() -> None:
    def page(seed: str) -> bytes:
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", HASHED], check=True, capture_output=True, env=environment)
        return done.stdout

    assert len({page(str(seed)) for seed in range(1, 5)}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("t-1, t-2 and t-3 are lost by m0", "t-0, t-7 are lost by m4"),
        ("m0-3f2504e0-4f89-11d3-9a0c-0305e82c3301 joined", "m1-00000000-4f89-11d3-9a0c-0305e82c3301 joined"),
    ],
)
def test_shapes_are_equal__where_only_names_and_lists_differ(one: str, other: str) -> None:
    assert shape_of(one) == shape_of(other)


def test_shapes_differ__where_words_do() -> None:
    assert shape_of("m0 left") != shape_of("m0 crashed")
