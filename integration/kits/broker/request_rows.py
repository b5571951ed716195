"""Random requests of all group apis, in all versions, to the broker and to Kafka's own coordinator: a row per api."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.brokers.counterpart import virtual_counterpart
from rebalance_check.integration.comparison.requests.comparisons import Comparison, live_with_virtual, with_live
from rebalance_check.integration.jvm import JARS_SETTING
from rebalance_check.integration.jvm.release import Release
from rebalance_check.integration.kits.broker.target import Target
from rebalance_check.integration.kits.report import KitRow
from rebalance_check.integration.virtual import VirtualKafka, find_release
from rebalance_check.integration.wire.kafka_python import errors
from rebalance_check.integration.wire.served import lacking
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.properties.verdict import Outcome

SECTION: Final = "random requests"
SEEDS: Final = 12
FRAMES: Final = 120
"""Requests of each seed; it ends at the first that is answered otherwise."""

NEEDED: Final = ("CreateTopics", "DescribeGroups", "DeleteGroups")
"""The apis without which there are no topics to name, and no groups to look at."""

ANSWERED: Final = "every request is answered as Kafka answers it, or not at all"


def request_rows(target: Target, progress: ProgressListener = ignore_progress) -> Iterator[KitRow]:
    """A row per api that was compared, and one for requests that the broker did not survive.

    Where jars of Kafka are set, its own coordinator in virtual time is the other side; else the embedded broker, which
    the suites of this project hold equal to it.
    """
    if reason := lacking(target.broker.served, NEEDED):
        yield KitRow(section=SECTION, claim=ANSWERED, outcome=Outcome.UNTESTED, detail=reason)
        return
    found, failures = dict[str, Difference](), list[str]()
    with _comparison(target) as comparison:
        total = Compared(comparison.terms.names)
        for done in range(SEEDS):
            progress("random requests", done, SEEDS)
            try:
                run = comparison.run(target.seed + done, FRAMES)
            except (RebalanceCheckError, OSError, errors.KafkaError) as failure:
                failures.append(f"seed {target.seed + done}: {str(failure) or type(failure).__name__}")
                continue
            total.add(run)
            for each in run.differences:
                found.setdefault(each.kind, each)
        progress("random requests", SEEDS, SEEDS)
        for api in sorted(total.reached):
            yield _row(target, api, total.reached[api], found.get(api))
    yield _survived(target, total, failures)


@contextmanager
def _comparison(target: Target) -> Iterator[Comparison]:
    bootstrap, release = target.broker.bootstrap, _release(target.broker)
    if release is None:
        yield with_live(bootstrap, target.name)
        return
    with VirtualKafka(release) as kafka:
        yield live_with_virtual(bootstrap, target.name, kafka)


def _release(broker: Broker) -> Release | None:
    """The Kafka that the broker is compared with: its own release, the newest for a broker of others; None without
    jars."""
    if not os.environ.get(JARS_SETTING):
        return None
    try:
        return virtual_counterpart(broker) if broker.name.startswith("kafka ") else find_release()
    except RebalanceCheckError:
        return None


def _row(target: Target, api: str, compared: int, found: Difference | None) -> KitRow:
    claim = f"{api} is answered as by Kafka"
    if found is None:
        return KitRow(section=SECTION, claim=claim, outcome=Outcome.HELD, checked=compared)
    return KitRow(
        section=SECTION,
        claim=claim,
        outcome=Outcome.VIOLATED,
        checked=compared,
        detail=str(found),
        command=target.reproduces.part("requests"),
    )


def _survived(target: Target, total: Compared, failures: list[str]) -> KitRow:
    outcome = Outcome.VIOLATED if failures else Outcome.HELD
    command = target.reproduces.part("requests") if failures else ""
    detail = f"{failures[0]} ({len(failures)} of {SEEDS} seeds broke off)" if failures else ""
    return KitRow(
        section=SECTION,
        claim=ANSWERED,
        outcome=outcome,
        checked=total.counts["requests"],
        detail=detail,
        command=command,
    )
