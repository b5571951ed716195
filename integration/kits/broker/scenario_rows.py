"""The scenarios that a socket can play, on a broker: a row for each."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from typing import Final, cast

from rebalance_check.impl.scenarios import COORDINATOR_LANGUAGE, Scenario, ScenarioLine, ScenarioRunner, scenarios_in
from rebalance_check.impl.steered.coordinator import SteeredCoordinator
from rebalance_check.integration.exchange.proxy import RecordingProxy
from rebalance_check.integration.kits.broker.socket_coordinator import SocketCoordinator
from rebalance_check.integration.kits.broker.target import Target, is_there
from rebalance_check.integration.kits.broker.topics import ensure_topic
from rebalance_check.integration.kits.report import KitRow
from rebalance_check.integration.wire.kafka_python import errors
from rebalance_check.integration.wire.served import lacking
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.properties.history import HistoryWriter
from rebalance_check.properties.verdict import Outcome

SECTION: Final = "scenarios"

AT_ONCE: Final = 16
"""Scenarios mostly wait: for a request to stay parked, or for a session to expire."""

APIS: Final[Mapping[str, str]] = {
    "join": "JoinGroup", "admit": "JoinGroup", "sync": "SyncGroup", "heartbeat": "Heartbeat", "leave": "LeaveGroup",
    "commit": "OffsetCommit", "fetch": "OffsetFetch", "offset-delete": "OffsetDelete", "delete": "DeleteGroups",
    "status": "DescribeGroups", "members": "DescribeGroups", "describe": "DescribeGroups",
}  # fmt: skip
"""The verbs that send a request, and which."""

PLAYABLE: Final = frozenset({*APIS, "advance", "waiting"})
"""The verbs that need no more than a socket: see `SocketCoordinator`."""

TOPIC: Final = "{topic}"
"""Stands in a scenario for the topic that exists on the broker."""


def socket_scenarios() -> list[Scenario]:
    """The scenarios of the kit.

    Raises: RebalanceCheckError for a step that a socket cannot do.
    """
    folder = files("rebalance_check.integration.kits.broker").joinpath("scenarios")
    found = sorted((each for each in folder.iterdir() if each.name.endswith(".scenario")), key=lambda each: each.name)
    scenarios = [one for each in found for one in scenarios_in(each.read_text(encoding="utf-8"), each.name)]
    for scenario in scenarios:
        for line in scenario.lines:
            with scenario.located(line):
                _require_playable(line)
    return scenarios


def scenario_rows(target: Target, progress: ProgressListener = ignore_progress) -> Iterator[KitRow]:
    """A row per scenario: held where the broker gave each reply as it is written."""
    topic = f"rebalance-check-{uuid.uuid4().hex[:12]}"
    ensure_topic(target.broker, topic, 2)
    scenarios = socket_scenarios()
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="scenario") as pool:
        rows = pool.map(lambda scenario: _row(target, scenario, topic), scenarios)
        for done, row in enumerate(rows, 1):
            progress("scenarios", done, len(scenarios))
            yield row


def play(target: Target, scenario: Scenario, topic: str) -> list[str]:
    """The answer to each line of a scenario, in a group that no run used before.

    Raises: OSError, a protocol error of kafka-python or RebalanceCheckError when the broker fails.
    """
    answers = []
    with SocketCoordinator(target.broker, f"rebalance-check-{uuid.uuid4().hex[:12]}") as coordinator:
        # A step that asks more of a coordinator than a socket offers was refused when the scenarios were read.
        runner = ScenarioRunner(cast(SteeredCoordinator, coordinator))
        for line in scenario.lines:
            coordinator.expect(replies_in(line.expected))
            with scenario.located(line):
                answer = COORDINATOR_LANGUAGE.perform(runner, line.step.replace(TOPIC, topic))
            answers.append(answer.replace(topic, TOPIC))
    return answers


def replies_in(expected: str) -> int:
    """How many replies an expected answer has: ``waits; b: generation 2, leader b`` has one."""
    return sum(part.strip() not in ("", "waits") for part in expected.split(";"))


def _row(target: Target, scenario: Scenario, topic: str) -> KitRow:
    if reason := lacking(target.broker.served, dict.fromkeys(filter(None, map(_api, scenario.lines)))):
        return KitRow(section=SECTION, claim=scenario.title, outcome=Outcome.UNTESTED, detail=reason)
    outcome, detail = _outcome(target, scenario, topic)
    history = _recorded_again(target, scenario, topic) if outcome is Outcome.VIOLATED else ""
    return KitRow(
        section=SECTION,
        claim=scenario.title,
        outcome=outcome,
        checked=len(scenario.lines),
        detail=detail,
        history=history,
        command=target.reproduces.part("scenarios") if detail else "",
    )


def _outcome(target: Target, scenario: Scenario, topic: str) -> tuple[Outcome, str]:
    """Whether the broker gave each reply as it is written, and its replies instead."""
    try:
        seen = scenario.answered(play(target, scenario, topic))
    except (RebalanceCheckError, OSError, errors.KafkaError) as failure:
        reason = str(failure) or type(failure).__name__
        if is_there(target.broker.bootstrap):
            return Outcome.VIOLATED, f"the broker failed: {reason}"
        return Outcome.UNDECIDED, f"the broker is gone: {reason}"
    detail = first_difference(scenario.expected(), seen)
    return (Outcome.VIOLATED if detail else Outcome.HELD), detail


def _recorded_again(target: Target, scenario: Scenario, topic: str) -> str:
    """Run a scenario once more, behind a proxy that writes the traffic; the file, "" where nothing did."""
    path = target.out / f"scenario-{re.sub(r'[^a-z0-9]+', '-', scenario.title.lower()).strip('-')}.jsonl"
    with (
        HistoryWriter(path) as write,
        suppress(RebalanceCheckError, OSError, errors.KafkaError),
        RecordingProxy(target.broker.bootstrap, listener=write) as proxy,
    ):
        front = replace(target.broker, bootstrap=proxy.bootstrap_for("scenario"))
        play(replace(target, broker=front), scenario, topic)
    if write.count == 0:
        path.unlink()
    return str(path) if write.count else ""


def _api(line: ScenarioLine) -> str:
    """The api that a line needs, "" for none."""
    return APIS.get(line.step.split()[0], "")


def first_difference(expected: Sequence[str], seen: Sequence[str]) -> str:
    """The first line that was answered otherwise, and how, with the lines before it; "" for none."""
    for number, (line, answered) in enumerate(zip(expected, seen, strict=True)):
        if line != answered:
            before = "\n".join(f"  {each}" for each in expected[:number])
            return f"{line!r} was answered {answered.partition('->')[2].strip() or 'nothing'!r}\n{before}".rstrip()
    return ""


def _require_playable(line: ScenarioLine) -> None:
    verb = line.step.split()[0]
    if verb not in PLAYABLE:
        raise RebalanceCheckError(f"a socket cannot do {verb!r}: write one of {', '.join(sorted(PLAYABLE))}")
