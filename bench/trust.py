"""How far a verdict can be trusted: healthy runs that are accused, and damaged records whose verdict turns.

    python bench/trust.py healthy --first 0 --runs 1000     simulated groups that work; goal: no alarm in 100,000 runs
    python bench/trust.py scenarios                         random scenarios of our coordinator; the same goal
    python bench/trust.py mutilate                          histories of healthy runs with one damage; goal: no alarm
    python bench/trust.py mutilate-violating                violating histories with one damage; goal: none is held, but
                                                            where the record of the run's own source, which attests the
                                                            ends of all others, is gone; and 90% of those with a damage
                                                            elsewhere stay violated

A seed decides everything about its run: protocol, mode of Connect's workers, size, faults that groups survive, and the
damage (`mutilations`). Every alarm is printed with the command that shows it again, and the exit code is 1 where a
number is above its goal. A run that shows something wrong in Kafka itself is no alarm, and is counted apart. ``--json``
prints one JSON object. Runs are spread over the cores; the figures do not depend on their number. The violating
histories are those of the mutants that a search of seeds finds, in turn.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any, Final

from mutilations import Mutilation, mutilated
from rebalance_check.impl.mutants import IMPL_MUTANTS, FuzzSearch
from rebalance_check.impl.runtime.options import (
    ALL_FAULTS,
    COMMON_FAULTS,
    ClusterMode,
    FaultKind,
    SimulatedProtocol,
    SimulationOptions,
)
from rebalance_check.impl.scenarios.random_lines import DEFAULT_STEPS
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ConfigCallEnded,
    Event,
    MemberStarted,
    RequestAnswered,
    SubscriptionChanged,
)
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.model.vocabulary.upgrade_paths import PATHS
from rebalance_check.pipeline.processes import Processes, cores
from rebalance_check.pipeline.scenario_runs import KEPT, simulate_scenario
from rebalance_check.pipeline.seed_run import breaks, replay_command
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.causality import Place, certain_order
from rebalance_check.properties.history import scan_lines
from rebalance_check.properties.judge import judge, judge_scanned
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.verdict import Counterexample, Outcome

SURVIVED_MODES: Final = tuple(mode for mode in ClusterMode if mode is not ClusterMode.MIXED)
PROTOCOLS: Final = tuple(protocol for protocol in SimulatedProtocol if protocol is not SimulatedProtocol.MIXED)
CONSUMERS: Final = (SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE)
LEGAL_PATHS: Final = tuple(path.name for path in PATHS if path.legal)
PIECE: Final = 8
"""So many runs has a task of a process."""
VIOLATING: Final = "mutilate-violating"
KAFKAS: Final = "owned and does not exist"
"""A new leader of an incremental Connect group does not know which work was deleted, and takes it from no worker:
TRACK_RECORD.md has the command that shows it on Kafka's own assignor. A run that ends so is not healthy."""
UNFENCED: Final = "putRestartRequest"
"""A leader whose request to restart fails in its transaction gives its write privileges up, and claims them again only
after another write failed so (``DistributedHerder.restartConnectorAndTasks``): TRACK_RECORD.md. Until the next round it
accepts no configuration."""
KEEPS: Final = 0.9
"""The share of violating histories that stay violated where the damage lies elsewhere."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A verdict that is wrong: the run, how to see it again, and the claim about it."""

    seed: int
    replay: str
    invariant: str
    headline: str
    damage: str = ""
    line: int = 0

    def __str__(self) -> str:
        damage = f" [{self.damage}, line {self.line}]" if self.damage else ""
        return f"{self.invariant}: {self.headline}{damage}\n  {self.replay}"


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its verdict, the alarms that it is, and under which names it is counted."""

    outcome: str
    alarms: list[Alarm]
    counted: list[str] = field(default_factory=list)


# ------------------------------------------------------------------------------------------------------- healthy runs


def settings(seed: int) -> SimulationOptions:
    """The settings of a seed's run. Groups survive its faults, so that every accusation is false."""
    random = Random(f"trust/{seed}")
    protocol = random.choice(PROTOCOLS)
    options = SimulationOptions(
        protocol=protocol,
        members=random.randint(1, random.choice((4, 12))),
        partitions=random.randint(1, random.choice((6, 24))),
        steps=random.randint(12, random.choice((20, 60, 100))),
        faults=_survived_faults(random),
    )
    if protocol is SimulatedProtocol.CONNECT:
        return replace(options, mode=random.choice(SURVIVED_MODES))
    if protocol in CONSUMERS and random.random() < 1 / 8:
        return replace(options, protocol=SimulatedProtocol.MIXED, upgrade=random.choice(LEGAL_PATHS))
    return options


def _survived_faults(random: Random) -> tuple[FaultKind, ...]:
    """Mostly all that groups survive, of which the simulator draws some; else the common ones, or a few."""
    few = tuple(sorted(random.sample(ALL_FAULTS, random.randint(0, 5)), key=ALL_FAULTS.index))
    return random.choices((ALL_FAULTS, COMMON_FAULTS, few), (6, 1, 1))[0]


def healthy_run(seed: int) -> Run:
    """A simulated group that does nothing wrong."""
    options = settings(seed)
    return _judged(
        seed, replay_command(seed, options), lambda: judge(simulate(seed, options)), lambda: simulate(seed, options)
    )


def scenario_run(seed: int) -> Run:
    """A random scenario on our coordinator."""
    steps = DEFAULT_STEPS if seed % 3 else 2 * DEFAULT_STEPS
    options = SimulationOptions(steps=steps)
    return _judged(
        seed,
        f"python bench/trust.py scenarios --first {seed} --runs 1",
        lambda: judge(simulate_scenario(seed, options), KEPT),
    )


def _is_kafkas(alarms: Sequence[Alarm], events: Callable[[], Iterable[Event]]) -> bool:
    """Whether a group does not come to rest for a reason that Kafka's own source has."""
    if not all(alarm.invariant == "rebalance_completes" for alarm in alarms):
        return False
    history = list(events())
    unaccepted = all("was not accepted" in alarm.headline for alarm in alarms)
    return (unaccepted and _is_unfenced(history)) or _has_mismatch(history)


def _is_unfenced(history: Iterable[Event]) -> bool:
    return any(
        isinstance(event, ConfigCallEnded) and event.method == UNFENCED and event.error == "PrivilegedWriteException"
        for event in history
    )


def _has_mismatch(history: Iterable[Event]) -> bool:
    """A static member came back with fewer topics. The coordinator keeps its assignment, as the assignor is the same
    (``updateStaticMemberThenRebalanceOrCompleteJoin``), and the client joins again for ever: TRACK_RECORD.md."""
    wanted: dict[str, tuple[str, ...]] = {}
    assigned: dict[str, tuple[str, ...]] = {}
    static: set[str] = set()
    for event in history:
        if isinstance(event, MemberStarted):
            wanted[event.member] = event.topics
            assigned.pop(event.member, None)
            (static.add if event.group_instance_id else static.discard)(event.member)
        elif isinstance(event, SubscriptionChanged):
            wanted[event.member] = event.topics
        elif isinstance(event, RequestAnswered) and event.api == Api.SYNC_GROUP and event.error == "NONE":
            assigned[event.member] = event.assignment
    return any(
        member in static and any(topic_of(partition) not in wanted.get(member, ()) for partition in partitions)
        for member, partitions in assigned.items()
    )


def _judged(seed: int, replay: str, run: Callable[[], Judgement], events: Callable[[], Iterable[Event]] = tuple) -> Run:
    """The verdict; an error of simulator or judge is an alarm, too. ``events`` makes the history again."""
    try:
        judgement = run()
    except Exception as error:  # the bench goes on; the replay shows the error
        return Run("failed", [Alarm(seed, replay, "failed", f"{type(error).__name__}: {error}")])
    alarms = alarms_of(judgement, seed, replay)
    if any(KAFKAS in alarm.headline for alarm in alarms) or (alarms and _is_kafkas(alarms, events)):
        return Run("wrong in Kafka", [])
    return Run(str(judgement.outcome), alarms)


def alarms_of(judgement: Judgement, seed: int, replay: str, damage: Mutilation | None = None) -> list[Alarm]:
    """An alarm per claim that the judgement accuses the run by."""
    kind, line = (damage.kind, damage.at) if damage is not None else ("", 0)
    return [
        Alarm(seed, replay, found.invariant, found.headline, kind, line) for found in judgement.counterexamples
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------- damaged records


def judged_text(damage: Mutilation) -> Judgement:
    """The verdict on a damaged history, read as a file is."""
    return judge_scanned(scan_lines(damage.lines, "history"))


def mutilated_run(seed: int) -> Run:
    """A healthy history with one damage. One that is accused without it is no fault of the damage."""
    replay = f"python bench/trust.py mutilate --first {seed} --runs 1"
    history = simulate(seed, settings(seed))
    damage = mutilated(Random(f"mutilate/{seed}"), history)
    try:
        judgement = judged_text(damage)
    except Exception as error:  # the bench goes on; the replay shows the error
        fault = Alarm(seed, replay, "failed", f"{type(error).__name__}: {error}", damage.kind, damage.at)
        return Run("failed", [fault], [damage.kind])
    before = {found.invariant for found in judge(history).counterexamples} if judgement.counterexamples else set()
    alarms = [one for one in alarms_of(judgement, seed, replay, damage) if one.invariant not in before]
    outcome = "accused without damage" if judgement.counterexamples and not alarms else str(judgement.outcome)
    return Run(outcome, alarms, [f"{damage.kind}: {outcome}"])


def violating_names() -> list[str]:
    """The mutants that seeds of the simulator find."""
    return [name for name, mutant in IMPL_MUTANTS.items() if isinstance(mutant.find, FuzzSearch)]


@dataclass(frozen=True, slots=True)
class Violating:
    """The history of a mutant and its broken claim. ``prefix`` are the places of the events that lead to the violation,
    ``sources`` the processes that they are of."""

    name: str
    history: list[Event]
    found: Counterexample
    prefix: frozenset[int]
    sources: frozenset[str]


def violating(name: str) -> Violating | None:
    """The history of the first seed that finds the mutant; None where no seed does."""
    mutant = IMPL_MUTANTS[name]
    assert isinstance(mutant.find, FuzzSearch)
    options, invariant = replace(mutant.find.options, mutant=name), select([mutant.caught_by])[0]
    for seed in range(mutant.find.first, mutant.find.last):
        if breaks(seed, options, invariant) is not None:
            history = simulate(seed, options)
            found = judge(history, [invariant]).counterexamples[0]
            prefix = causal_prefix(history, found.events[-1])
            sources = frozenset(history[place].source for place in prefix if place > 0)  # the run starts before all
            return Violating(name, history, found, prefix, sources)
    return None


def violating_runs(name: str, seeds: Sequence[int]) -> list[Run]:
    """The history of one mutant with a damage for each of the seeds."""
    known = violating(name)
    if known is None:
        return [Run("not found", [Alarm(seeds[0], f"rebalance-check mutants {name} --run", name, "no seed finds it")])]
    return [_violating_run(known, seed) for seed in seeds]


def _violating_run(known: Violating, seed: int) -> Run:
    damage = mutilated(Random(f"mutilate/{seed}"), known.history)
    judgement = judged_text(damage)
    outcome, claim = judgement.outcome, known.found.invariant
    kept = "stays" if claim in {one.invariant for one in judgement.counterexamples} else "lost"
    counted = [f"all: {outcome}", f"{damage.kind}: {outcome}"]
    if not known.prefix.intersection(damage.damaged):
        counted.append(f"elsewhere: {kept}")
    last = max(known.prefix)
    if all(place > last or known.history[place].source not in known.sources for place in damage.damaged):
        counted.append(f"later or of another process: {kept}")
    if outcome is not Outcome.HELD:
        return Run(str(outcome), [], counted)
    if damage.kind == "source missing" and known.history[damage.at - 1].source == known.history[-1].source:
        return Run("held without RunEnded", [], counted)  # nothing says that the rest is not all
    replay = f"python bench/trust.py {VIOLATING} --first {seed} --runs 1  # {known.name}"
    held = Alarm(seed, replay, claim, "the violating history is held", damage.kind, damage.at)
    return Run(str(outcome), [held], counted)


def causal_prefix(history: Sequence[Event], last: Event) -> frozenset[int]:
    """The places of all events that certainly came before ``last``, and of ``last`` itself.

    Events of one source are in order; the order of events of different ones is that of `causality`.
    """
    by_source: dict[str, list[int]] = {}
    for place, event in enumerate(history):
        by_source.setdefault(event.source, []).append(place)
    files = list(by_source.values())
    before: dict[int, list[int]] = {}
    for places in files:
        for earlier, later in pairwise(places):
            before.setdefault(later, []).append(earlier)

    def place_of(place: Place) -> int:
        return files[place.file][place.line]

    for cause, effect in certain_order([[history[place] for place in places] for places in files]):
        before.setdefault(place_of(effect), []).append(place_of(cause))
    open_places, prefix = [history.index(last)], set[int]()
    while open_places:
        place = open_places.pop()
        if place not in prefix:
            prefix.add(place)
            open_places += before.get(place, [])
    return frozenset(prefix)


# ------------------------------------------------------------------------------------------------------------- totals


@dataclass(slots=True)
class Totals:
    """The counts over all runs of a command."""

    command: str
    first: int
    runs: int = 0
    accused: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)
    invariants: Counter[str] = field(default_factory=Counter)
    alarms: list[Alarm] = field(default_factory=list)

    def take(self, run: Run) -> None:
        """Add a run."""
        self.runs += 1
        self.accused += bool(run.alarms)
        self.outcomes[run.outcome] += 1
        self.counted.update(run.counted)
        self.invariants.update(alarm.invariant for alarm in run.alarms)
        self.alarms += run.alarms

    @property
    def rate(self) -> float:
        """Runs with an alarm in 100,000."""
        return 100_000 * self.accused / self.runs if self.runs else 0.0

    def kept(self, where: str) -> float:
        """The share of violating histories with a damage there that stay violated; 1 where there is none."""
        stays, lost = self.counted[f"{where}: stays"], self.counted[f"{where}: lost"]
        return stays / (stays + lost) if stays + lost else 1.0

    @property
    def is_good(self) -> bool:
        """Whether every number is as it should be."""
        return not self.accused and self.kept("elsewhere") >= KEEPS

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        counts = {"outcomes": self.outcomes, "counted": self.counted, "invariants": self.invariants}
        return {
            "command": self.command, "first": self.first, "runs": self.runs, "accused": self.accused, **counts,
            "kept": self.kept("elsewhere"), "rate_per_100000": self.rate,
            "alarms": [asdict(one) for one in self.alarms],
        }  # fmt: skip

    def text(self) -> str:
        """For people: the alarms are printed already."""
        lines = [f"{self.command}: {self.runs:,} runs from {self.first}: {_listed(self.outcomes)}"]
        lines += [f"  {name:<48} {count:>7,}" for name, count in sorted(self.counted.items())]
        lines += [f"  {name:<48} {count:>7,} accused" for name, count in self.invariants.most_common()]
        if self.command == VIOLATING:
            lines.append(f"  a damage elsewhere leaves {self.kept('elsewhere'):.1%} violated")
        return "\n".join([*lines, f"  {self.accused} runs with an alarm: {self.rate:,.0f} in 100,000"])


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))


RUNS: Final[dict[str, Callable[[int], Run]]] = {
    "healthy": healthy_run,
    "scenarios": scenario_run,
    "mutilate": mutilated_run,
}


def several(command: str, seeds: range) -> list[Run]:
    """The runs of the seeds."""
    return [RUNS[command](seed) for seed in seeds]


def tasks(command: str, seeds: range) -> Iterator[tuple[Callable[..., list[Run]], tuple[Any, ...]]]:
    """The work as pieces: some seeds each, or all those of one mutant."""
    if command != VIOLATING:
        yield from ((several, (command, seeds[at : at + PIECE])) for at in range(0, len(seeds), PIECE))
        return
    names = violating_names()
    for number, name in enumerate(names):
        if of_name := [seed for seed in seeds if seed % len(names) == number]:
            yield violating_runs, (name, of_name)


def measured(command: str, seeds: range, workers: int, say: Callable[[str], None]) -> Totals:
    """All runs of a command; each alarm is said at once."""
    totals = Totals(command, seeds.start)
    with Processes(workers) as processes:
        for runs in processes.run(tasks(command, seeds)):
            for run in runs:
                totals.take(run)
                for alarm in run.alarms:
                    say(str(alarm))
    totals.alarms.sort(key=lambda alarm: (alarm.seed, alarm.invariant))
    return totals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=[*RUNS, VIOLATING])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--json", action="store_true", dest="as_json")
    given = parser.parse_args()
    say = partial(print, flush=True, file=sys.stderr if given.as_json else sys.stdout)
    totals = measured(given.command, range(given.first, given.first + given.runs), given.workers, say)
    print(json.dumps(totals.document()) if given.as_json else totals.text())
    sys.exit(0 if totals.is_good else 1)


if __name__ == "__main__":
    main()
