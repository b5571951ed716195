"""The pytest plugin: what it costs a run that does not use it, and what becomes of tests that do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from junitparser.xunit2 import JUnitXml, TestCase

from rebalance_check.properties.history import read_history

pytest_plugins = ["pytester"]

HEAVY = ("numpy", "kafka", "hypothesis", "click", "rich", "msgspec")

OWNERS = """
import pytest
from rebalance_check import PartitionsAssigned, PartitionsRevoked

def assigned(recorder, member, generation=1):
    recorder(member).emit(PartitionsAssigned(member=member, generation=generation, partitions=("t-0",)))

def revoked(recorder, member, generation=1):
    recorder(member).emit(PartitionsRevoked(member=member, generation=generation, partitions=("t-0",)))
"""
"""The beginning of test files here."""

TWICE = (
    OWNERS
    + """
@pytest.mark.rebalance(invariants="no_double_ownership")
def test_two_owners(recorder):
    assigned(recorder, "m0")
    assigned(recorder, "m1")
"""
)


# ------------------------------------------------------------------------------------------------ what it costs


def test_a_run_that_uses_nothing_of_it_imports_nothing_heavy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import sys

        def test_modules(pytestconfig):
            assert pytestconfig.pluginmanager.hasplugin("rebalance-check")
            assert "rebalance_check.pytest_plugin" in sys.modules
            assert [name for name in {HEAVY!r} if name in sys.modules] == []
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)


# ------------------------------------------------------------------------------------------------ the mark


def test_a_violated_claim_fails_the_test__with_the_text_of_the_command_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TWICE)
    result = pytester.runpytest("--rebalance-histories", "kept", "--rebalance-seed", "7")
    result.assert_outcomes(failed=1)
    path = (
        pytester.path
        / "kept"
        / (
            result_name
            := "test_a_violated_claim_fails_the_test__with_the_text_of_the_command_line.py--test_two_owners.jsonl"
        )
    )
    assert path.name == result_name
    judged = pytester.run("rebalance-check", "judge", path, "--invariant", "no_double_ownership")
    said = judged.stdout.str()
    explained = said[said.index("no_double_ownership: ") : said.index("\n\nverdict: ")].strip()
    assert explained in result.stdout.str()
    result.stdout.fnmatch_lines([
        "rebalance-check: *, seed 7, broker embedded, histories in *kept",
        "history   *--test_two_owners.jsonl",
        "run again pytest *::test_two_owners --rebalance-seed 7 --rebalance-broker embedded",
    ])  # fmt: skip


def test_what_holds_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        OWNERS
        + """
@pytest.mark.rebalance
def test_hand_over(recorder):
    assigned(recorder, "m0")
    revoked(recorder, "m0")
    assigned(recorder, "m1", 2)
"""
    )
    pytester.runpytest().assert_outcomes(passed=1)


def test_a_doubt_is_an_error_that_says_why(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        OWNERS
        + """
@pytest.mark.rebalance("rebalance_completes")
def test_cut_off(recorder):
    assigned(recorder, "m0")

@pytest.mark.rebalance("rebalance_completes")
def test_ended(recorder):
    assigned(recorder, "m0")
    recorder.end()

@pytest.mark.rebalance("rebalance_completes")
def test_ended_with_work_left(recorder):
    assigned(recorder, "m0")
    recorder.end("m1 waits")
"""
    )
    result = pytester.runpytest()
    result.assert_outcomes(passed=2, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*rebalance_completes: untested: *no RunEnded", "rebalance_completes: m1 waits"])


def test_a_marked_test_that_records_nothing_is_an_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.rebalance
        def test_nothing():
            pass

        @pytest.mark.rebalance
        def test_silent(recorder):
            recorder("m0")
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(["the test is marked `rebalance` and recorded nothing: *"])


UNTESTED = (
    OWNERS
    + """
@pytest.mark.rebalance(["no_double_ownership", "one_leader"])
def test_owner(recorder):
    assigned(recorder, "m0")
"""
)


def test_an_untested_claim_is_a_warning(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(UNTESTED)
    result = pytester.runpytest()
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*UntestedClaimWarning: untested: one_leader: *"])


@pytest.mark.parametrize("ini", [True, False])
def test_an_untested_claim_is_an_error_where_that_is_asked_for(ini: bool, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(UNTESTED)
    if ini:
        pytester.makeini("[pytest]\nrebalance_require_tested = true\n")
    result = pytester.runpytest(*([] if ini else ["--rebalance-require-tested"]))
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*one_leader: untested: *"])


def test_a_name_that_is_none_fails_before_the_test_runs(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.rebalance("no_such_claim")
        def test_a(recorder):
            print("it ran")

        @pytest.mark.rebalance(claims="ownership")
        def test_b(recorder):
            print("it ran")
        """
    )
    result = pytester.runpytest("-s")
    result.assert_outcomes(failed=2)
    result.stdout.no_fnmatch_line("*it ran*")
    result.stdout.fnmatch_lines([
        "*test_a cannot be used: 'no_such_claim' names no invariant*", "*test_b cannot be used: *claims*",
    ])  # fmt: skip


def test_a_test_that_fails_by_itself_shows_what_its_history_breaks(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TWICE + "    assert [] == ['an owner']\n")
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*assert [[]] == ?'an owner'?", "*rebalance*", "no_double_ownership: t-0 is owned by*"]
    )


def test_claims_are_left_out_by_mark_option_and_ini(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TWICE.replace('invariants="no_double_ownership"', 'exclude="coordinator", without=["leader"]'))
    pytester.runpytest().assert_outcomes(failed=1)
    pytester.runpytest("--rebalance-exclude", "ownership").assert_outcomes(passed=1)
    pytester.makeini("[pytest]\nrebalance_exclude = ownership\nrebalance_invariants = callbacks_alternate ownership\n")
    result = pytester.runpytest()
    result.assert_outcomes(passed=1)


def test_a_mark_may_name_one_thing_that_the_coordinator_lacks(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TWICE.replace('invariants="no_double_ownership"', 'exclude="coordinator", without="leader"'))
    pytester.runpytest("--rebalance-exclude", "ownership").assert_outcomes(passed=1)


# ------------------------------------------------------------------------------------------------ fixtures


def test_the_judge_raises_the_violation__of_a_recording_a_file_or_events(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        OWNERS
        + """
from rebalance_check import Violation, UndecidedError, RebalanceCheckError, read_history

def test_judge(recorder, judge):
    assigned(recorder, "m0")
    assert judge(invariants="no_double_ownership").held == ("no_double_ownership",)
    assigned(recorder, "m1")
    for history in (None, recorder.path, str(recorder.path), read_history(recorder.path)):
        with pytest.raises(Violation, match="t-0 is owned by m0 and m1") as raised:
            judge(history, invariants="no_double_ownership")
        assert raised.value.counterexample.invariant == "no_double_ownership"
        assert type(raised.value).__name__ == "NoDoubleOwnershipViolated"
    with pytest.raises(UndecidedError, match="no RunEnded"):
        judge(recorder.events[:1], invariants="rebalance_completes")
    judge(recorder.events[:1], invariants="rebalance_completes", allow_undecided=True)

def test_nothing_to_judge(judge):
    with pytest.raises(RebalanceCheckError, match="nothing was recorded"):
        judge()
"""
    )
    pytester.runpytest().assert_outcomes(passed=2)


def test_a_recording_is_in_its_file_at_once__and_keeps_the_order_of_observation(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        OWNERS
        + """
from rebalance_check import read_history

def test_order(recorder):
    assigned(recorder, "m0")
    assigned(recorder, "m1")
    revoked(recorder, "m0")
    assert recorder("m0") is recorder("m0")
    assert list(read_history(recorder.path)) == recorder.events
    assert [(each.source, each.seq, each.group) for each in recorder.events] == [
        ("m0", 0, "test"), ("m1", 0, "test"), ("m0", 1, "test"),
    ]
"""
    )
    pytester.runpytest().assert_outcomes(passed=1)


def test_random_numbers_depend_on_the_seed_and_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("which", [0, 1])
        def test_draw(rebalance_random, rebalance_seed, which):
            print("drew", rebalance_seed, which, rebalance_random.random())
        """
    )
    drawn = {seed: re.findall(r"drew .*", pytester.runpytest("-s", "--rebalance-seed", seed).stdout.str())
             for seed in ("0", "1")}  # fmt: skip
    again = re.findall(r"drew .*", pytester.runpytest("-s").stdout.str())
    assert drawn["0"] == again
    assert len({line.split()[-1] for lines in drawn.values() for line in lines}) == 4


def test_a_seed_that_is_no_number_is_refused(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--rebalance-seed", "x")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--rebalance-seed is 'x', which is no whole number*"])


def test_junit_xml_has_seed_history_and_the_outcome_of_each_claim(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TWICE)
    pytester.runpytest("--junitxml", "j.xml", "--rebalance-histories", "kept")
    ((case,),) = JUnitXml.fromfile(str(pytester.path / "j.xml"))
    assert isinstance(case, TestCase)
    properties = {each.name: each.value for each in case.properties()}  # type: ignore[no-untyped-call] # the library has no type here
    history = properties.pop("rebalance.history")
    assert properties == {
        "rebalance.seed": "0", "rebalance.verdict": "violated", "rebalance.no_double_ownership": "violated",
    }  # fmt: skip
    assert len(list(read_history(Path(history)))) == 2


def test_it_works_in_several_processes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        TWICE + "\n".join(f"def test_{number}(rebalance_seed): assert rebalance_seed == 5" for number in range(4))
    )
    result = pytester.runpytest("-n", "2", "--rebalance-seed", "5", "--rebalance-histories", "kept")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["no_double_ownership: t-0 is owned by m0 and m1 in generation 1"])
    assert len(list((pytester.path / "kept").iterdir())) == 1


def test_options_stand_in_a_group_of_their_own(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--help")
    result.stdout.fnmatch_lines(["rebalance-check: *", "  --rebalance-seed=N *", "  --rebalance-histories=FOLDER*"])


def test_strict_markers_and_strict_config_know_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TWICE)
    pytester.makeini("[pytest]\nrebalance_seed = 3\nrebalance_histories = kept\nrebalance_broker = embedded\n")
    result = pytester.runpytest("--strict-markers", "--strict-config")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["rebalance-check: *, seed 3, broker embedded, histories in *kept"])
