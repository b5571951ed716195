"""Several files of one run are one history: no clock breaks a claim, and what the protocol shows stays violated."""

from dataclasses import replace
from pathlib import Path

import pytest

from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    MemberJoined,
    PartitionsAssigned,
    PartitionsRevoked,
    RunEnded,
    RunStarted,
)
from rebalance_check.properties.file_runs import runs_of_files
from rebalance_check.properties.history import write_history
from rebalance_check.properties.judge import judge
from rebalance_check.properties.merging import merge_histories
from rebalance_check.properties.verdict import Outcome, Undecided

PROTOCOLS = [SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE, SimulatedProtocol.CONNECT]
OWNERSHIP = "no_double_ownership"


def by_source(history: list[Event]) -> list[list[Event]]:
    """The events that each observer would have written to a file of its own."""
    files: dict[str, list[Event]] = {}
    for event in history:
        files.setdefault(event.source, []).append(event)
    return list(files.values())


def shifted(events: list[Event], ms: int) -> list[Event]:
    return [replace(event, time_ms=event.time_ms + ms) for event in events]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_good_run__with_any_clock_5_s_off__is_not_accused(protocol: SimulatedProtocol, seed: int) -> None:
    history = simulate(seed, replace(SimulationOptions(), protocol=protocol, steps=5))
    files = by_source(history)
    assert not judge(history).counterexamples
    for number, lines in list(enumerate(files))[seed % 2 :: 2]:
        ms = 5_000 if (number + seed) % 2 else -5_000
        judgement = merge_histories([*files[:number], shifted(lines, ms), *files[number + 1 :]]).judge()
        assert not judgement.counterexamples
        assert protocol is SimulatedProtocol.CONNECT or judgement.verdict(OWNERSHIP).outcome is Outcome.HELD


def test_clocks_that_agree__are_enough_where_they_may_be_trusted() -> None:
    """Each observer's clock in the simulation is exact, so no claim is open that is not open in the whole history."""
    history = simulate(1, replace(SimulationOptions(), protocol=SimulatedProtocol.EAGER))
    whole, merged = judge(history), merge_histories(by_source(history), max_skew_ms=0).judge()
    outcomes = {i.name: (whole.verdicts[i].outcome, merged.verdicts[i].outcome) for i in whole.verdicts}
    assert not {name: pair for name, pair in outcomes.items() if pair[0] is not pair[1]}


def test_merging_keeps_the_events_and_the_order_of_each_file() -> None:
    history = simulate(2, SimulationOptions())
    merged = merge_histories(by_source(history)).events
    assert by_source(sorted(merged, key=lambda e: e.source)) == by_source(sorted(history, key=lambda e: e.source))


def takes(member: str, time_ms: int, generation: int = 1, seq: int = 0) -> Event:
    return PartitionsAssigned(
        group="g", source=member, seq=seq, time_ms=time_ms, member=member, generation=generation, partitions=("t-0",)
    )


def gives_up(member: str, time_ms: int) -> Event:
    return PartitionsRevoked(
        group="g", source=member, seq=1, time_ms=time_ms, member=member, generation=1, partitions=("t-0",)
    )


def ended(source: str, seq: int) -> Event:
    return RunEnded(group="g", source=source, seq=seq, pending=())


@pytest.mark.parametrize("ms", [-5_000, 0, 5_000])
def test_a_partition_that_two_members_keep__is_violated_whatever_the_clocks_say(ms: int) -> None:
    files = [[takes("m0", 0), ended("m0", 1)], [takes("m1", 100 + ms), ended("m1", 1)]]
    assert merge_histories(files).judge().verdict(OWNERSHIP).outcome is Outcome.VIOLATED


def test_what_a_file_without_an_end_may_lack__is_undecided() -> None:
    """The record of m0 may be cut off before m0 gave the partition up: files have no order in common."""
    files = [[takes("m0", 0)], [takes("m1", 100), ended("m1", 1)]]
    verdict = merge_histories(files, max_skew_ms=0).judge().verdict(OWNERSHIP)
    assert isinstance(verdict, Undecided)
    assert "nothing says that the record of m0 is complete behind its event 0" in verdict.reason


@pytest.mark.parametrize(("skew", "outcome"), [
    (None, Outcome.UNDECIDED), (5_000, Outcome.UNDECIDED), (50, Outcome.VIOLATED), (0, Outcome.VIOLATED),
])  # fmt: skip
def test_what_only_clocks_order__is_undecided_unless_their_skew_is_known(skew: int | None, outcome: Outcome) -> None:
    """m1 takes the partition 900 ms before m0 gives it up, if the clocks can be trusted so far."""
    verdict = (
        merge_histories([[takes("m0", 0), gives_up("m0", 1_000)], [takes("m1", 100)]], skew).judge().verdict(OWNERSHIP)
    )
    assert verdict.outcome is outcome
    if isinstance(verdict, Undecided):
        assert "event 0 of m0 and event 0 of m1" in verdict.reason
        assert "t-0 is owned by m0 and m1 in generation 1" in verdict.reason
        assert "--max-skew" in verdict.reason


def test_a_handover_that_the_clocks_prove__holds() -> None:
    files = [[takes("m0", 0), gives_up("m0", 1_000)], [takes("m1", 2_000)]]
    assert merge_histories(files, 500).judge().verdict(OWNERSHIP).outcome is Outcome.HELD
    assert merge_histories(files).judge().verdict(OWNERSHIP).outcome is Outcome.UNDECIDED


def test_generations_order_files__where_clocks_say_the_opposite() -> None:
    """m1 joins a generation after the coordinator began it, and m0 is in none that is later."""
    coordinator: list[Event] = [
        GenerationStarted(group="g", source="c", seq=number, time_ms=at, incarnation=0, generation=number + 1,
                          members=(member,), leader=member)
        for number, (member, at) in enumerate([("a", 10), ("b", 1_000)])
    ]  # fmt: skip
    m1: list[Event] = [
        MemberJoined(group="g", source="m1", seq=0, time_ms=-9_000, member="m1", member_id="b", generation=2)
    ]
    sources = [event.source for event in merge_histories([m1, coordinator]).events]
    assert sources == ["c", "c", "m1"]


def test_files_that_contradict_each_other__are_refused() -> None:
    one = [takes("m0", 0), takes("m1", 0, seq=1)]
    other = [takes("m1", 0), takes("m0", 0, seq=1)]
    with pytest.raises(RebalanceCheckError, match=r"contradict each other: .* comes after .* with --separate"):
        merge_histories([list(reversed(one)), list(reversed(other))]).judge()


def test_a_run_that_each_file_starts_and_ends__starts_and_ends_once() -> None:
    def whole(member: str) -> list[Event]:
        return [
            RunStarted(group="g", source=member, seq=0, subject="s"),
            takes(member, 0, seq=1),
            RunEnded(group="g", source=member, seq=2, pending=(member,)),
        ]

    merged = merge_histories([whole("m0"), whole("m1")])
    assert [type(event) for event in merged.events].count(RunStarted) == 1
    assert isinstance(merged.events[-1], RunEnded)
    assert merged.events[-1].pending == ("m0", "m1")
    assert merged.judge().verdict(OWNERSHIP).outcome is Outcome.VIOLATED


# ---------------------------------------------------------------------------------------------- which files


def written(folder: Path, name: str, events: list[Event]) -> Path:
    write_history(folder / name, events)
    return folder / name


def start(seed: int, source: str = "harness") -> Event:
    return RunStarted(group="g", source=source, seq=0, subject="s", seed=seed)


def test_files_that_share_a_group_and_no_number__are_one_run(tmp_path: Path) -> None:
    a, b = written(tmp_path, "a", [takes("m0", 0)]), written(tmp_path, "b", [start(1), takes("m1", 0)])
    assert runs_of_files([a, b]) == [(a, b)]


def test_a_recording_that_goes_on_in_another_file__is_one_run(tmp_path: Path) -> None:
    a, b = written(tmp_path, "a", [takes("m0", 0)]), written(tmp_path, "b", [gives_up("m0", 5)])
    assert runs_of_files([b, a]) == [(b, a)]


def test_files_of_other_groups_or_seeds__are_runs_of_their_own(tmp_path: Path) -> None:
    a, b = (written(tmp_path, str(seed), [start(seed), takes("m0", 0)]) for seed in (1, 2))
    c = written(tmp_path, "c", [replace(takes("m0", 0), group="h")])
    assert runs_of_files([a, b, c]) == [(a,), (b,), (c,)]


def test_two_recordings_of_one_seed__are_two_runs(tmp_path: Path) -> None:
    a, b = (written(tmp_path, name, [start(7), takes("m0", 0)]) for name in "ab")
    assert runs_of_files([a, b]) == [(a,), (b,)]


def test_files_of_which_nothing_says_whether_they_are_one_run__are_refused(tmp_path: Path) -> None:
    a, b = (written(tmp_path, name, [takes("m0", 0)]) for name in "ab")
    with pytest.raises(RebalanceCheckError, match=r"a and .*b share a group and both hold event 0 of m0.*--separate"):
        runs_of_files([a, b])
