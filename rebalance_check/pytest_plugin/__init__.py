"""The pytest plugin: fixtures for recording, brokers and judging, and the mark `rebalance`, which judges a test.

A run that uses none of them imports nothing beyond the standard library and pytest: every import of the package that
needs more stands in the function that uses it.
"""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from rebalance_check.model.version import __version__
from rebalance_check.pytest_plugin.settings import Settings, add_options, settings_of

if TYPE_CHECKING:
    from rebalance_check.integration.embedded.embedded import EmbeddedBroker
    from rebalance_check.pytest_plugin.outcome import JudgeFixture
    from rebalance_check.pytest_plugin.recording import Recording

MARK: Final = "rebalance"
_SETTINGS: Final = pytest.StashKey[Settings]()
_RECORDING: Final = pytest.StashKey["Recording"]()
_DOUBT: Final = pytest.StashKey[str]()


# ------------------------------------------------------------------------------------------------ the run


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options ``--rebalance-*`` and their ini equivalents."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the options, and declare the mark."""
    config.stash[_SETTINGS] = settings_of(config)
    config.addinivalue_line(
        "markers",
        f"{MARK}(invariants, exclude, without, require_tested): judge what the test recorded when it has passed",
    )


def pytest_report_header(config: pytest.Config) -> str:
    """Version, seed and broker, so that a run can be repeated from its output."""
    settings = config.stash[_SETTINGS]
    kept = f", histories in {settings.histories}" if settings.histories else ""
    return f"rebalance-check: {__version__}, seed {settings.seed}, broker {settings.broker}{kept}"


# ------------------------------------------------------------------------------------------------ fixtures


@pytest.fixture
def rebalance_seed(pytestconfig: pytest.Config) -> int:
    """The seed of this run, as its header shows it."""
    return pytestconfig.stash[_SETTINGS].seed


@pytest.fixture
def rebalance_random(rebalance_seed: int, request: pytest.FixtureRequest) -> random.Random:
    """Random numbers that depend on the seed of the run and on the test alone."""
    return random.Random(f"{rebalance_seed}/{request.node.nodeid}")


@pytest.fixture
def recorder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Recording]:
    """The recorder of this test: ``recorder("m0").emit(event)``; a `pytest_plugin.recording.Recording`."""
    from rebalance_check.pytest_plugin.recording import Recording  # noqa: PLC0415 - only where it is used

    folder = request.config.stash[_SETTINGS].histories
    path = tmp_path / "history.jsonl" if folder is None else folder / f"{_file_name(request.node.nodeid)}.jsonl"
    recording = request.node.stash[_RECORDING] = Recording(path)
    yield recording
    recording.close()


def _file_name(nodeid: str) -> str:
    return re.sub(r"[^\w.\-]+", "-", nodeid.replace("::", "--")).strip("-")[:200]


@pytest.fixture
def embedded_broker(
    request: pytest.FixtureRequest, recorder: Recording, rebalance_seed: int
) -> Iterator[EmbeddedBroker]:
    """A broker in this process, new for this test, which records its coordinator's acts and the frames on the wire.

    Its topics, with their partitions, are given by ``pytest.mark.parametrize("embedded_broker", [{"t": 3}],
    indirect=True)``.
    """
    from rebalance_check.integration.embedded.embedded import EmbeddedBroker  # noqa: PLC0415 - only where it is used

    topics = getattr(request, "param", None)
    with EmbeddedBroker(topics, listener=recorder.add, wire_listener=recorder.add, seed=rebalance_seed) as broker:
        yield broker


@pytest.fixture(scope="session")
def rebalance_broker(pytestconfig: pytest.Config) -> Iterator[str]:
    """The address of the broker that ``--rebalance-broker`` names, which all tests share."""
    from rebalance_check.integration.brokers import open_broker  # noqa: PLC0415 - only where it is used

    with open_broker(pytestconfig.stash[_SETTINGS].broker) as broker:
        yield broker.bootstrap


@pytest.fixture
def kafka(request: pytest.FixtureRequest) -> str:
    """The address of a broker, as clients take it for ``bootstrap.servers``.

    ``--rebalance-broker embedded`` is a new `embedded_broker` for each test; any other is shared by all tests.
    """
    if request.config.stash[_SETTINGS].broker == "embedded":
        return str(request.getfixturevalue("embedded_broker").bootstrap)
    return str(request.getfixturevalue("rebalance_broker"))


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> JudgeFixture:
    """Judges this test's recording, a history file or events; raises the `Violation`, with its counterexample."""
    from rebalance_check.pytest_plugin.outcome import JudgeFixture  # noqa: PLC0415 - only where it is used

    return JudgeFixture(request.config.stash[_SETTINGS], lambda: request.node.stash.get(_RECORDING, None))


# ------------------------------------------------------------------------------------------------ the mark


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Judge the record of a marked test: a violation fails it; a doubt is kept for `pytest_runtest_teardown`."""
    mark = item.get_closest_marker(MARK)
    if mark is None:
        return (yield)
    from rebalance_check.pytest_plugin.outcome import judge_test  # noqa: PLC0415 - only where it is used

    settings = item.config.stash[_SETTINGS]
    judging = judge_test(item, mark, settings, lambda: item.stash.get(_RECORDING, None))
    try:
        result = yield
    except BaseException:
        judging.note_failed_test(_again(item, settings))
        raise
    item.stash[_DOUBT] = judging.judge_passed_test(_again(item, settings))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    """Report as an error a claim that is undecided about a test that passed."""
    result = yield
    if doubt := item.stash.get(_DOUBT, ""):
        pytest.fail(doubt, pytrace=False)
    return result


def _again(item: pytest.Item, settings: Settings) -> str:
    """The command that runs this test again."""
    return f"pytest {shlex.quote(item.nodeid)} --rebalance-seed {settings.seed} --rebalance-broker {settings.broker}"
