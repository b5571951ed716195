"""``rebalance-check explore --serve``: it says where it listens, serves, and ends in good order."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest

pytest.importorskip("jinja2", reason="the extra 'report' is not installed")

from rebalance_check.cli import run


@pytest.fixture
def serving() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, and the address that it printed."""
    command = [
        sys.executable,
        "-m",
        "rebalance_check.cli",
        "explore",
        "--members",
        "2",
        "--serve",
        "--port",
        "0",
        "--json",
    ]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.fullmatch(r"explore eager\?members=2 at (http://127\.0\.0\.1:\d+/) until Ctrl-C\n", line)
            assert found, line
            yield process, found[1]
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal__ends_it_with_0(number: signal.Signals, serving: tuple[subprocess.Popen[str], str]) -> None:
    process, url = serving
    with urllib.request.urlopen(f"{url}api/start", timeout=60) as reply:
        assert json.load(reply)["address"] == "v1/eager?members=2/"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "ended\n")
    assert json.loads(out) == {"url": url, "exit_code": 0}


def test_a_search_that_goes_on__ends_with_it(serving: tuple[subprocess.Popen[str], str]) -> None:
    process, url = serving
    body = json.dumps({"address": "v1/eager?members=3&generations=9&crashes=3&expiries=3/"}).encode()
    request = urllib.request.Request(f"{url}api/search", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        assert json.load(reply)["state"] != "ended"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "ended\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--walks", "3"], "--walks does not go with --serve"),
        (["--liveness", "--html", "x.html"], "--liveness, --html does not go with --serve"),
        (["--broker", "embedded"], "the explorer does walks on virtual Kafka, and not on 'embedded'"),
        (["--mutant", "no-such"], "there is no mutant 'no-such'"),
    ],
)
def test_what_does_not_go_with_it__is_refused(
    options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explore", "--serve", *options]) == 2
    assert sentence in capsys.readouterr().err
