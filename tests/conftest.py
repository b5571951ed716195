"""Shared by all tests: the Hypothesis profiles, and the option that makes a skipped test a failure."""

import signal
from collections.abc import Generator
from importlib.util import find_spec

import pytest

from tests.expectations import Expectations

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so the shell starts a job in the background, and its children
    signal.signal(signal.SIGINT, signal.default_int_handler)


def register_profiles() -> None:
    """ci draws the same examples every time, ``--hypothesis-profile=nightly`` new ones; it prints how to repeat."""
    from hypothesis import HealthCheck, settings  # noqa: PLC0415 - the docs need no Hypothesis

    # Hypothesis switches rules of a state machine off for a run, and drops it where all that is possible is off.
    tolerated = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    settings.register_profile("ci", derandomize=True, deadline=None, max_examples=25, suppress_health_check=tolerated)
    settings.register_profile(
        "nightly", deadline=None, max_examples=2000, print_blob=True, suppress_health_check=tolerated
    )
    settings.load_profile("ci")


if find_spec("hypothesis"):
    register_profiles()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skip", action="store_true", help="a skipped test fails: what was asked for must have run")
    parser.addoption(
        "--update-scenarios",
        action="store_true",
        help="rewrite the expected answers of scenario files, and golden files, with what was seen",
    )
    parser.addoption(
        "--broker",
        metavar="SPEC",
        help="the broker of the tests marked broker: embedded, local, testcontainers or HOST:PORT (use with -m broker)",
    )


@pytest.fixture
def expectations(request: pytest.FixtureRequest) -> Expectations:
    """Compares answers and texts with the files that have the expected ones; ``--update-scenarios`` rewrites these."""
    return Expectations(update=request.config.getoption("--update-scenarios"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and item.config.getoption("--no-skip"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and --no-skip forbids that: {skip_reason(report.longrepr)}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The kinds of step that state machines took, of tests that record them."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "steps":
                terminalreporter.write_line(f"{value}")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if report.skipped and collector.config.getoption("--no-skip"):
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped, and --no-skip forbids that: {skip_reason(report.longrepr)}"
    return report


def skip_reason(longrepr: object) -> str:
    """The reason alone: pytest hands a skip over as (path, line, reason)."""
    return str(longrepr[2]).removeprefix("Skipped: ") if isinstance(longrepr, tuple) else str(longrepr)
