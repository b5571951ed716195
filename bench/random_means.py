"""The general means that look for random edits: the runs of a user who knows nothing of the defect."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import blake2b
from typing import Final

from rebalance_check.impl.comparison.to_model.exhaustive import every_transition
from rebalance_check.impl.comparison.to_model.in_process import ReferenceTransport
from rebalance_check.impl.comparison.to_model.run import ConformanceRun
from rebalance_check.impl.runtime.options import COMMON_FAULTS, ClusterMode, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.scenarios.random_lines import DEFAULT_STEPS
from rebalance_check.impl.simulator import simulate
from rebalance_check.integration.against_kafka import COMPARISONS, Kafka
from rebalance_check.integration.comparison.assignors.assignors import OurAssignors
from rebalance_check.integration.comparison.assignors.courses import run_course
from rebalance_check.integration.comparison.connect_assignors.assigned_group import run_history
from rebalance_check.integration.comparison.connect_assignors.ours import OurConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.search import protocol_of
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.judging import judge_run
from rebalance_check.pipeline.scenario_runs import KEPT, simulate_scenario
from rebalance_check.pipeline.seed_run import replay_command
from rebalance_check.properties.assignment.claims import Broken, broken_claims
from rebalance_check.properties.assignment.connect_claims import broken_connect_claims
from rebalance_check.properties.assignment.connect_histories import SHAPES as CONNECT_SHAPES
from rebalance_check.properties.assignment.connect_histories import random_history
from rebalance_check.properties.assignment.connect_rounds import CONNECT_ASSIGNORS
from rebalance_check.properties.assignment.courses import broken_course_claims
from rebalance_check.properties.assignment.problem import ASSIGNORS
from rebalance_check.properties.assignment.problems import SHAPES, random_problem
from rebalance_check.properties.history import encode
from rebalance_check.properties.kinds import Invariant
from rebalance_check.report.runs import explained

KAFKA: Final = "kafka"
"""Comparisons with Kafka's own classes, which need Java and their jars."""

MEANS_GROUPS: Final = ("fuzz", "protocols", "faults", "scenarios", "assignors", "conformance", KAFKA)
"""The groups that can be chosen: `fuzz` without options, and all else that looks for nothing in particular."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim that a run breaks, its headline, and the whole explanation, made when it is asked for."""

    claim: str
    headline: str
    explain: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Ran:
    """One run: the digest of its history, and the findings when it is judged."""

    digest: str
    judge: Callable[[], list[Finding]]


@dataclass(frozen=True, slots=True)
class Means:
    """One way of looking: its name and group, the seeds that it takes, its command for a seed, and the run of one."""

    name: str
    group: str
    seeds: range
    command: Callable[[int], str]
    run: Callable[[int], Ran]


def digest_of(parts: Iterable[bytes]) -> str:
    """The digest of a history: equal for equal histories, and in all likelihood for no others."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(part)
        found.update(b"\n")
    return found.hexdigest()


# ---------------------------------------------------------------------------------------------------- histories


def _simulated(options: SimulationOptions, seed: int) -> Ran:
    return _judged(seed, simulate(seed, options), None, replay_command(seed, options))


def _scenario(options: SimulationOptions, seed: int) -> Ran:
    return _judged(seed, simulate_scenario(seed, options), KEPT, f"python {SCENARIOS.format(seed)}")


def _judged(seed: int, history: Sequence[Event], invariants: Sequence[Invariant] | None, command: str) -> Ran:
    def findings() -> list[Finding]:
        found = judge_run(seed, history, invariants).judgement.counterexamples
        return [
            Finding(one.invariant, one.headline, lambda one=one: explained(history, one, command)[0])  # type: ignore[misc] # mypy does not infer a lambda's default
            for one in found
        ]

    return Ran(digest_of(map(encode, history)), findings)


def _of_simulator(group: str, options: SimulationOptions, seeds: range) -> Means:
    name = f"fuzz {options.command_line()}".rstrip()
    return Means(name, group, seeds, partial(replay_command, options=options), partial(_simulated, options))


# ---------------------------------------------------------------------------------------------------- assignors


def _assignors(seed: int) -> Ran:
    """Every assignor's answers to the seed's problems, and its course of rounds."""
    ours, answers, broken = OurAssignors(patience_lines=None), list[str](), list[Broken]()
    for name in ASSIGNORS:
        for shape in SHAPES:
            problem = random_problem(shape, seed)
            answer = ours.answer(name, problem)
            answers.append(repr(answer))
            broken += broken_claims(name, problem, answer)
        course = run_course(name, random_problem("tame", seed))
        answers.append(repr(course))
        broken += broken_course_claims(course)
    return Ran(digest_of(answer.encode() for answer in answers), lambda: _broken_of("assignors", broken))


def _connect_assignors(seed: int) -> Ran:
    """The rounds of a group of workers in the seed's histories, with each assignor of Connect."""
    ours, rounds, broken = OurConnectAssignors(), list[str](), list[Broken]()
    for name in CONNECT_ASSIGNORS:
        for shape in CONNECT_SHAPES:
            course = run_history(ours, random_history(shape, seed), protocol_of(name))
            rounds.append(repr(course))
            broken += broken_connect_claims(name, course)
    return Ran(digest_of(each.encode() for each in rounds), lambda: _broken_of("assignors", broken))


def _broken_of(family: str, broken: Iterable[Broken]) -> list[Finding]:
    return [Finding(f"{family}.{one.claim}", one.finding, lambda one=one: one.finding) for one in broken]  # type: ignore[misc] # mypy does not infer a lambda's default


# ---------------------------------------------------------------------------------------------------- conformance


CONFORMANCE_BOUNDS: Final = (
    "eager?members=2&partitions=1&generations=2",
    "eager?members=1&partitions=1&generations=3&leaves=1&expiries=1&duplicates=1&deletions=1&initial_delay=off",
    "cooperative?members=2&partitions=2&generations=2&crashes=0&leaves=1&initial_delay=off",
    "eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts",
    "eager?members=2&partitions=1&generations=1&crashes=0&initial_delay=off&failovers=1",
    "eager?members=2&partitions=1&generations=2&crashes=0&initial_delay=off&commits=1",
    "eager?members=2&partitions=1&generations=2&initial_delay=off&timeouts&static_members=1",
    "eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1&zombie_coordinators=1",
    "eager?members=1&partitions=1&generations=2&initial_delay=off&static_members=1&failovers=1",
    "eager?members=1&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2&failovers=1",
    "eager?members=2&partitions=1&generations=1&crashes=0&leaves=1&initial_delay=off&member_id_required&new_members",
)
"""Bounds that end in about a second each; together they have every concern of the classic model."""


def _conformance(seed: int) -> Ran:
    """Every transition of the bounds with this number, on the coordinator of this process."""
    bounds = Bounds.from_address(CONFORMANCE_BOUNDS[seed])
    found = every_transition(ConformanceRun(ReferenceTransport(), bounds, name="ours"))
    seen = [found.figures, *sorted(found.reached), *map(str, found.differences)]

    def findings() -> Iterator[Finding]:
        for one in found.differences:
            yield Finding("conformance", str(one), lambda one=one: f"{one.start.schedule}\n{one}")  # type: ignore[misc] # mypy does not infer a lambda's default

    return Ran(digest_of(each.encode() for each in seen), lambda: list(findings()))


# ---------------------------------------------------------------------------------------------------- Kafka


@cache
def _kafka() -> Kafka:
    """Kafka's classes, whose processes end with this one."""
    kafka = Kafka()
    atexit.register(kafka.close)
    return kafka


def _compared(subject: str, seed: int) -> Ran:
    """The differences between ours and Kafka's, by a seed."""
    found = _kafka().compared(subject, seed)
    name = f"differs from Kafka's {subject}"
    differences = [Finding(name, one.partition("\n")[0], partial(str, one)) for one in found]
    return Ran(digest_of(each.encode() for each in found), lambda: differences)


def _comparison(subject: str) -> Means:
    name = f"{subject} against Kafka's"
    return Means(name, KAFKA, SOME_SEEDS, f"Kafka().compared({subject!r}, {{}})".format, partial(_compared, subject))


# ---------------------------------------------------------------------------------------------------- all of them


SEEDS: Final = range(100)
"""The seeds that `fuzz` takes by default."""

FEW_SEEDS: Final = range(100, 130)
"""Of clusters of Connect workers, whose runs are ten times as long; others than those of `fuzz` without options."""

SOME_SEEDS: Final = range(100)
"""Of comparisons with Kafka's classes."""

SCENARIOS: Final = "bench/trust.py scenarios --first {} --runs 1"
_SCENARIOS: Final = SimulationOptions(steps=DEFAULT_STEPS)
_ALONE: Final = (
    SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE, SimulatedProtocol.ELECTION, SimulatedProtocol.STATUS,
    SimulatedProtocol.CONNECT_CONFIG,
)  # fmt: skip
_MODES: Final = (ClusterMode.ANY, ClusterMode.UPGRADE, ClusterMode.EXACTLY_ONCE)
"""Not mixed, which Kafka's workers do not survive."""


def all_means() -> tuple[Means, ...]:
    """`fuzz` without options first; then each protocol and mode of Connect, few faults, scenarios, assignors, and the
    conformance of our coordinator to the model; then comparisons with Kafka's classes."""
    alone = [SimulationOptions(protocol=protocol) for protocol in _ALONE]
    modes = [SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=mode) for mode in _MODES]
    faulty = [
        (SimulationOptions(protocol=protocol, faults=COMMON_FAULTS), seeds)
        for protocol, seeds in (
            (SimulatedProtocol.EAGER, SEEDS),
            (SimulatedProtocol.COOPERATIVE, SEEDS),
            (SimulatedProtocol.CONNECT, FEW_SEEDS),
        )
    ]
    return (
        _of_simulator("fuzz", SimulationOptions(), SEEDS),
        *(_of_simulator("protocols", options, SEEDS) for options in alone),
        *(_of_simulator("protocols", options, FEW_SEEDS) for options in modes),
        *(_of_simulator("faults", options, seeds) for options, seeds in faulty),
        Means("scenarios", "scenarios", SEEDS, SCENARIOS.format, partial(_scenario, _SCENARIOS)),
        Means("assignors", "assignors", SEEDS, "rebalance-check assignors ours --seeds {}".format, _assignors),
        Means("assignors of Connect", "assignors", FEW_SEEDS,
              "rebalance-check assignors ours --assignor connect-incremental --seeds {}".format, _connect_assignors),
        Means("conformance", "conformance", range(len(CONFORMANCE_BOUNDS)),
              lambda _seed: "rebalance-check conform broker embedded --part transitions", _conformance),
        *map(_comparison, COMPARISONS),
    )  # fmt: skip
