"""The command line: exit codes, one JSON object on standard output, and one clear sentence for each bad input."""

from __future__ import annotations

import importlib
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rebalance_check import CATALOGUE, Event, write_history
from rebalance_check.cli import COMMANDS
from rebalance_check.commands._extras import EXTRAS
from rebalance_check.impl.mutants import MUTANTS, ModelSearch, Mutant
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import RunEnded
from rebalance_check.properties.assignment.claims import CLAIMS
from rebalance_check.properties.assignment.connect_claims import CONNECT_CLAIMS
from rebalance_check.properties.assignment.courses import COURSE_CLAIMS
from rebalance_check.properties.files import judge_file
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws import ownership
from rebalance_check.report.catalogue_page import smallest_breaking_history

Command = Callable[..., Any]
UNTESTED = "  untested, and no success: "
"""Stands before the number of invariants that nothing in a history could have broken."""


def written(tmp_path: Path, history: list[Event], name: str = "history.jsonl") -> Path:
    path = tmp_path / name
    write_history(path, history)
    return path


def holding(double_ownership: list[Event]) -> list[Event]:
    """The history up to where the leader goes wrong; the group becomes Stable, and the run ends in an orderly way."""
    return [*double_ownership[:15], double_ownership[16], replace(double_ownership[-1], seq=1)]


def test_judge__untested__lists_what_could_not_have_failed__and_why(
    command: Command, tmp_path: Path, double_ownership: list[Event]
) -> None:
    path = written(tmp_path, holding(double_ownership))
    listed = command("judge", path, "--verbose").out
    judgement = judge(path)
    assert all(f"{name}" in listed for name in judgement.untested)
    assert all(reason in listed for reason in judgement.untested.values())


def test_judge__a_claim_that_was_put_to_the_test__is_not_listed_as_vacuous(
    command: Command, tmp_path: Path, double_ownership: list[Event]
) -> None:
    path = written(tmp_path, holding(double_ownership))
    assert UNTESTED not in command("judge", path, "--invariant", "no_double_ownership").out


def test_judge__progress_violated__exits_11(command: Command, tmp_path: Path, double_ownership: list[Event]) -> None:
    history = holding(double_ownership)
    history[-1] = RunEnded(group="g", source="harness", seq=1, pending=("m1 waits",))
    assert command("judge", written(tmp_path, history)).code == 11


def test_judge__cut_off__exits_12_and_says_why(command: Command, tmp_path: Path, double_ownership: list[Event]) -> None:
    answer = command("judge", written(tmp_path, holding(double_ownership)[:-1]))
    assert answer.code == 12
    assert "undecided: rebalance_completes" in answer.out
    assert "has no RunEnded" in answer.out


def test_judge__several_histories__the_worst_decides(
    command: Command, tmp_path: Path, double_ownership: list[Event]
) -> None:
    good, bad = written(tmp_path, holding(double_ownership), "good"), written(tmp_path, double_ownership, "bad")
    document = command("judge", good, bad, "--json").document
    assert [one["verdict"] for one in document["histories"]] == ["held", "violated"]
    assert (document["verdict"], document["events"], document["exit_code"]) == ("violated", 36, 10)


def test_judge__html__writes_one_page(command: Command, tmp_path: Path, double_ownership: list[Event]) -> None:
    page = tmp_path / "made" / "page.html"
    assert command("judge", written(tmp_path, double_ownership), "--html", page).code == 10
    assert "t-1 is owned by m0 and m1 in generation 2" in page.read_text(encoding="utf-8")


def test_invariants__all_or_a_family(command: Command) -> None:
    listed = command("invariants", "--json").document["invariants"]
    assert [one["name"] for one in listed] == [invariant.name for invariant in CATALOGUE]
    assert all(one["claim"] and one["source"] for one in listed)
    family = command("invariants", "ownership", "--json").document["invariants"]
    assert [one["name"] for one in family] == [one.name for one in ownership.LAWS]


def test_invariants__each_shows_the_smallest_history_that_breaks_it() -> None:
    assert [invariant.name for invariant in CATALOGUE if not smallest_breaking_history(invariant)] == []


def test_mutants__each_names_its_invariant_and_its_command(command: Command) -> None:
    listed = command("mutants", "--json").document["mutants"]
    known = {name for i in CATALOGUE for name in (i.name, i.family)}
    known |= {f"assignors.{one.name}" for one in (*CLAIMS, *COURSE_CLAIMS, *CONNECT_CLAIMS)}
    impl = [one for one in listed if one["where"] == "impl"]
    assert len(impl) >= 10
    assert {one["caught_by"] for one in impl} <= known
    assert all(one["command"].startswith("rebalance-check ") for one in listed)


def test_fuzz__a_mutant_without_a_protocol__is_looked_for_as_its_own_search_does(command: Command) -> None:
    answer = command("fuzz", "--seeds", "0:1", "--mutant", "removal-drops-target-state", "--json")
    assert answer.code == 10
    assert answer.document["verdicts"]["config_snapshot_follows_reads"]["verdict"] == "violated"
    replay = answer.document["counterexamples"][0]["replay"]
    assert replay.endswith("fuzz --seeds 0:1 --protocol connect-config --mutant removal-drops-target-state")
    again = command(*shlex.split(replay)[1:], "--json")
    assert again.document["verdicts"] == answer.document["verdicts"]


def test_fuzz__what_the_command_line_names_counts_more_than_the_search_of_a_mutant(command: Command) -> None:
    named = command("fuzz", "--seeds", "0:1", "--mutant", "removal-drops-target-state", "--steps", "3")
    assert named.out.startswith(
        "fuzz --seeds 0:1 --protocol connect-config --steps 3 --mutant removal-drops-target-state"
    )
    seeds = command("fuzz", "--mutant", "connect-shrunk-task-set-not-cleaned", "--workers", "1")
    assert seeds.out.startswith("fuzz --seeds 10:20 --protocol connect --mode sessioned --mutant connect-shrunk")
    other = command("fuzz", "--seeds", "0:1", "--mutant", "removal-drops-target-state", "--protocol", "mixed")
    assert other.out.startswith("fuzz --seeds 0:1 --protocol mixed --mutant removal-drops-target-state")


def test_mutants__one_is_searched_for__and_its_counterexample_is_printed(command: Command) -> None:
    answer = command("mutants", "no-sync-deadline", "--run")
    assert answer.code == 0
    assert "caught by laggards_are_removed_in_time, 6 steps" in answer.out
    assert "1 of 1 caught; the median counterexample has 6 steps" in answer.out


@pytest.mark.parametrize("faults", ["common", "none", "failover,look-up", "common,failover"])
def test_fuzz__faults_have_names_and_sets(command: Command, faults: str) -> None:
    answer = command("fuzz", "--seeds", "0:4", "--protocol", "cooperative", "--faults", faults, "--workers", 1)
    assert answer.code == 0


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS.values() if isinstance(mutant.find, ModelSearch)][::4],
                         ids=lambda mutant: mutant.name)  # fmt: skip
def test_explore__the_listed_command_of_a_mutant__explores_the_bounds_in_which_it_is_caught(
    command: Command, mutant: Mutant
) -> None:
    assert isinstance(mutant.find, ModelSearch)
    program, *arguments = shlex.split(mutant.command)
    document = command(*arguments, "--interpreted", "--max-states", 1, "--json").document
    assert (program, document["bounds"], document["mutant"]) == (
        "rebalance-check", mutant.find.bounds.address(), mutant.name,
    )  # fmt: skip


BAD_INPUT = {
    "no command": (["nothing"], "No such command 'nothing'"),
    "an unknown option": (["judge", "--nothing"], "No such option"),
    "no history": (["judge"], "Missing argument 'HISTORY...'"),
    "a history that is not there": (["judge", "nowhere.jsonl"], "the history 'nowhere.jsonl' cannot be opened"),
    "an unknown invariant": (["judge", "x", "--invariant", "at_most_two"], "'at_most_two' names no invariant"),
    "seeds that are none": (["fuzz", "--seeds", "ten"], "'ten'"),
    "an unknown fault": (["fuzz", "--faults", "sabotage"], "'sabotage' is not a valid FaultKind"),
    "an unknown mutant": (["fuzz", "--mutant", "sabotage"], "'sabotage'"),
    "bounds out of range": (["explore", "--bounds", "members=99"], "members is 99: choose a number from 1 to 6"),
    "an unknown model mutant": (["explore", "--mutant", "sabotage", "--interpreted"], "'sabotage'"),
    "a broker that is none": (["live", "--broker", "nowhere"], "'nowhere' is no broker"),
    "a broker that is none, before anything is explored": (["run", "--broker", "nowhere"], "'nowhere' is no broker"),
    "seeds that are none, before anything is explored": (["run", "--seeds", "ten"], "'ten'"),
    "a bound that is none": (["explore", "--bounds", "member=2"], "'member' in the address 'member=2' is no bound"),
    "a subject that is none": (["fuzz", "--subject", "mine"], "'mine' is no subject"),
    "stores on Kafka": (["fuzz", "--subject", "virtual", "--protocol", "status"], "have no group: choose another"),
    "the record of a folder": (["judge", ".", "--sarif", "x"], "--sarif does not go together with the folder"),
    "no process to work in": (["fuzz", "--seeds", "0:1", "--workers", "0"], "0 is not in the range 1<=x<=256"),
    "no status store": (["live", "--protocol", "status", "--members", "0"], "workers is 0: choose a number from 1"),
    "no kind of worker": (["live", "--protocol", "connect", "--clients", "mine"], "'mine' is no kind of worker"),
    "no Connect scenario": (["live", "--protocol", "connect", "--scenario", "x"], "'x' is no scenario: choose from"),
    "no Connect worker": (["live", "--protocol", "connect", "--members", "0"], "members is 0: choose a number from 1"),
    "Connect without Kafka": (["live", "--protocol", "connect"], "Connect workers need a real Kafka"),
    "no consumer": (["live", "--members", "0"], "members is 0: choose a number from 1"),
    "fewer steps than none": (["report", "x", "--last", "-1"], "-1 is not in the range x>=0"),
}


@pytest.mark.parametrize(("arguments", "complaint"), BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input__exits_2_with_one_sentence_and_no_traceback(
    command: Command, arguments: list[str], complaint: str
) -> None:
    answer = command(*arguments)
    assert answer.code == 2
    assert complaint in answer.err
    assert "Traceback" not in answer.err


def test_bad_input__with_json__is_an_object_too(command: Command) -> None:
    document = command("judge", "nowhere.jsonl", "--json").document
    assert document["error"].startswith("the history 'nowhere.jsonl' cannot be opened")
    assert document["exit_code"] == 2


def test_a_malformed_history__exits_2_and_names_the_line(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"event":"MemberStarted","member":5}\n', encoding="utf-8")
    answer = command("judge", path)
    assert answer.code == 2
    assert f"{path}, line 1: MemberStarted: Expected `str`, got `int` - at `$.member`, value 5" in answer.err


@pytest.mark.parametrize("command_line", [["report", "--html"], ["judge", "--html"]], ids=" ".join)
def test_a_path_that_cannot_be_written__exits_2_and_names_it(
    command: Command, tmp_path: Path, double_ownership: list[Event], command_line: list[str]
) -> None:
    answer = command(*command_line, tmp_path, written(tmp_path, double_ownership), "--json")
    assert answer.code == 2
    assert answer.document["error"].startswith(f"{str(tmp_path)!r} cannot be used (Is a directory)")


def test_a_table_where_a_file_stands__exits_2_and_names_it(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="tables need the extra 'tables'")
    (tmp_path / "table").touch()
    answer = command("fuzz", "--seeds", "0:1", "--out", tmp_path / "table", "--json")
    assert answer.code == 2
    assert f"{str(tmp_path / 'table')!r} cannot be used (File exists)" in answer.document["error"]


def test_report__a_group_that_is_not_there__exits_2_and_names_those_that_are(
    command: Command, tmp_path: Path, double_ownership: list[Event]
) -> None:
    path = written(tmp_path, double_ownership)
    answer = command("report", path, "--group", "elsewhere")
    assert (answer.code, answer.out) == (2, "")
    assert "the history holds no group 'elsewhere': choose from g" in answer.err


def test_report__undecided__says_why(command: Command, tmp_path: Path, double_ownership: list[Event]) -> None:
    answer = command("report", written(tmp_path, holding(double_ownership)[:-1]))
    assert answer.code == 12
    assert "has no RunEnded" in answer.out


def broken_module(monkeypatch: pytest.MonkeyPatch, fault: BaseException) -> None:
    def refuse(_name: str) -> None:
        raise fault

    monkeypatch.setattr(importlib, "import_module", refuse)


def test_a_missing_extra__exits_2_and_names_it(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    broken_module(monkeypatch, ModuleNotFoundError("No module named 'llvmlite'", name="llvmlite"))
    answer = command("explore", "--json")
    assert answer.document["error"].endswith("not installed: pip install 'rebalance-check[explore]'")
    assert answer.code == 2


def test_a_fault_of_our_own__exits_70_with_a_traceback(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    broken_module(monkeypatch, ZeroDivisionError("division by zero"))
    answer = command("explore", "--json")
    assert answer.code == 70
    assert "Traceback" in answer.err
    assert "a fault of rebalance-check, not of what it looked at (ZeroDivisionError" in answer.document["error"]


def test_a_broker_that_goes_away__exits_2_and_says_so(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    broken_module(monkeypatch, ConnectionResetError("Connection reset by peer"))
    answer = command("live", "--json")
    assert answer.code == 2
    assert answer.document["error"].startswith("the connection to the broker broke (Connection reset by peer)")


def test_an_interrupt__exits_130(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    broken_module(monkeypatch, KeyboardInterrupt())
    answer = command("explore")
    assert answer.code == 130
    assert answer.err.endswith("ended by SIGINT\n")


def test_an_interrupt_of_a_campaign_that_keeps_its_runs__says_that_it_can_go_on(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_given: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rebalance_check.commands.fuzz.fuzz", interrupted)
    assert command("fuzz", "--out=campaign").err.endswith("ended by SIGINT; the same command goes on with the rest\n")
    assert command("fuzz").err.endswith("ended by SIGINT\n")


def test_an_interrupt_of_a_search_for_mutants__says_how_far_it_came(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = importlib.import_module("rebalance_check.commands._mutant_search")
    ends = iter([search.Caught("x", 1, 0.1, ()), None])

    def catch(_mutant: Mutant) -> Any:
        for end in ends:
            return end
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "catch", catch)
    assert command("mutants", "--run").err.endswith(
        f"ended by SIGINT; 2 of {len(MUTANTS)} are searched for, 1 caught\n"
    )


def test_help__lists_every_command_and_imports_none(command: Command) -> None:
    answer = command("--help")
    assert answer.code == 0
    assert all(f"  {name} " in answer.out for name in COMMANDS)


def test_importing_the_library_and_judging__needs_no_extra() -> None:
    script = (
        "import sys, rebalance_check.cli, rebalance_check.commands.judge\n"
        f"print([name for name in {sorted(EXTRAS)} if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_explore__the_address_of_a_path_that_breaks_a_claim__exits_10_and_names_it(command: Command) -> None:
    sizes = ("--bounds", "members=2,partitions=2,generations=3,crashes=0,initial_delay=off", "--interpreted", "--json")
    mutant = ("--protocol", "cooperative", "--mutant", "leader-does-not-withhold")
    explored = command("explore", *mutant, *sizes).document
    found = explored["counterexample"]
    assert (explored["exit_code"], found["invariant"]) == (10, "no_double_ownership")
    assert found["text"].startswith("no_double_ownership: t-0 is owned by m0 and m1 in generation 2\n")
    again = command("explore", found["address"], "--json")
    assert again.code == 10
    assert again.document["paths"][0]["invariant"] == "no_double_ownership"
    assert again.document["paths"][0]["text"] == found["text"]


def test_run__the_whole_job__one_table_and_one_verdict(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    job = importlib.import_module("rebalance_check.commands.run")
    monkeypatch.setattr(job, "java_available", lambda: False)
    small = [
        Bounds(protocol=bounds.protocol, members=2, partitions=1, generations=2, writes=1) for bounds in job.EXPLORED
    ]
    monkeypatch.setattr(job, "EXPLORED", tuple(small))
    monkeypatch.setattr(job, "find_spec", lambda name: None if name == "llvmlite" else object())
    answer = command("run", "--seeds", "0:4", "--walks", 2, "--json")
    document = answer.document
    assert (document["verdict"], answer.code) == ("held", 0)
    assert [part["name"] for part in document["parts"]] == ["explore"] * 3 + ["liveness"] * 2 + [
        "fuzz",
        "compare",
        "compare",
        "table",
    ]
    assert "no Java was found, so the table is made and judged by the local engine" in answer.err
    assert "verdict: held" in answer.err


def test_run__what_is_not_installed_is_left_out_and_named(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    job = importlib.import_module("rebalance_check.commands.run")
    monkeypatch.setattr(job, "EXPLORED", ())
    monkeypatch.setattr(job, "find_spec", lambda name: None if name in ("networkx", "pyarrow") else object())
    answer = command("run", "--seeds", "0:2", "--walks", 1, "--json")
    assert [part["name"] for part in answer.document["parts"]] == ["fuzz", "compare", "compare"]
    assert "left out  liveness: it needs networkx, which is not installed: pip install 'rebalance-check[explore]'" in (
        answer.err
    )
    assert (
        "left out  table: it needs pyarrow, which is not installed: pip install 'rebalance-check[tables]'" in answer.err
    )


def test_judge__events_without_numbers__are_distinguished(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "unnumbered.jsonl"
    line = '{"event":"PartitionsAssigned","source":"%s","member":"%s","generation":1,"partitions":["%s"]}\n'
    lines = [line % (m, m, t) for m, t in (("m0", "t-0"), ("m1", "t-1"), ("m1", "t-0"))]
    path.write_text("".join(lines), encoding="utf-8")
    answer = command("judge", path, "--invariant", "ownership")
    assert "m0 holds t-0 since step 1;" in answer.out
    assert "m1 got t-0 in generation 1 at step 3: contradiction." in answer.out
    assert "\n >  3  PartitionsAssigned m1 g1 t-0 " in answer.out


def test_judge__parts_of_one_run__are_merged(command: Command, tmp_path: Path, double_ownership: list[Event]) -> None:
    numbers = {event.source: event.seq for event in double_ownership}
    attested = tuple(("g", source, seq) for source, seq in sorted(numbers.items()))
    ended = double_ownership[-1]
    assert isinstance(ended, RunEnded)
    double_ownership[-1] = replace(ended, last=attested)
    sources = sorted(numbers)
    parts = [written(tmp_path, [e for e in double_ownership if e.source == source], source) for source in sources]
    answer = command("judge", *parts, "--invariant", "no_double_ownership")
    assert answer.code == 10
    assert answer.out.startswith(f"{len(parts)} files, 1 run\n{' + '.join(map(str, parts))}: violated")
    document = command("judge", *parts, "--json").document
    assert [one["files"] for one in document["histories"]] == [list(map(str, parts))]
    assert (document["events"], document["exit_code"]) == (19, 10)
    assert len(command("judge", *parts, "--separate", "--json").document["histories"]) == len(parts)


def test_judge__a_line_without_a_name__hides_no_other_file(
    command: Command, tmp_path: Path, double_ownership: list[Event]
) -> None:
    bad, nameless = written(tmp_path, double_ownership), tmp_path / "nameless.jsonl"
    nameless.write_bytes(b'{"event":[]}\n')
    answer = command("judge", nameless, bad)
    assert answer.code == 10
    assert "t-1 is owned by m0 and m1" in answer.out
    assert "nameless.jsonl, line 1: [] is no event" in answer.out


@pytest.mark.parametrize(("breaks", "code"), [(True, 10), (False, 70)])
def test_judge__a_fault_of_our_own__hides_no_other_file(
    command: Command,
    tmp_path: Path,
    double_ownership: list[Event],
    monkeypatch: pytest.MonkeyPatch,
    breaks: bool,
    code: int,
) -> None:
    """Both files are judged apart: one of them is the history of a run, and we fail on the other."""
    good = written(tmp_path, double_ownership if breaks else holding(double_ownership))
    other = tmp_path / "other.jsonl"
    other.write_bytes(good.read_bytes())
    whole = judge_file

    def failing(path: Path, *given: Any, **options: Any) -> Any:
        if path == other:
            raise ZeroDivisionError("division by zero")
        return whole(path, *given, **options)

    monkeypatch.setattr("rebalance_check.commands.judge.judge_file", failing)
    answer = command("judge", other, good, "--separate")
    assert answer.code == code
    assert f"{good}: {'violated' if breaks else 'held'}" in answer.out
    assert "not judged: this is a fault of rebalance-check (ZeroDivisionError: division by zero)" in answer.out
    assert "Traceback" in answer.err


def test_judge__a_file_that_cannot_be_read__hides_no_other(
    command: Command, tmp_path: Path, double_ownership: list[Event]
) -> None:
    bad = written(tmp_path, double_ownership)
    answer = command("judge", tmp_path / "nowhere", bad)
    assert answer.code == 10
    assert "t-1 is owned by m0 and m1" in answer.out
    assert f"{tmp_path / 'nowhere'}: not judged: the history" in answer.out
    good = command("judge", tmp_path / "nowhere", written(tmp_path, holding(double_ownership)), "--json")
    assert (good.code, good.document["verdict"], len(good.document["faults"])) == (2, "held", 1)


def test_a_search_for_planted_defects__ends_with_its_minutes(command: Command) -> None:
    two = ("roundrobin-deals-from-the-last", "sticky-fails-on-deleted-topic")
    answer = command("mutants", *two, "--run", "--minutes", "0.000000001")
    assert answer.code == 0
    assert "1 of 2 were searched for when --minutes ended" in answer.out
    assert "1 of 1 caught" in answer.out


@pytest.mark.parametrize("assignor", ["range", "connect-eager"])
def test_a_search_among_assignment_problems__ends_with_its_minutes(command: Command, assignor: str) -> None:
    answer = command("assignors", "ours", "--assignor", assignor, "--shape", "tame", "--minutes", "0.000000001")
    assert answer.code == 0
    assert "1 inputs" in answer.out or "1 histories" in answer.out
