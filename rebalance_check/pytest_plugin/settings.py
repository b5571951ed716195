"""The options of the plugin: each stands on the command line, or under the same name in the ini file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

GROUP: Final = "rebalance-check"

_SINGLE: Final = {
    "seed": ("N", "0", "The seed of the embedded broker and of `rebalance_random` (default: 0)."),
    "broker": (
        "BROKER",
        "embedded",
        "The broker of the fixture `kafka`: embedded (default), local, testcontainers or HOST:PORT.",
    ),
    "histories": ("FOLDER", "", "Keep there what each test records, a file per test (default: in its tmp_path)."),
}
_SEVERAL: Final = {
    "invariants": "A claim or a family that tests are judged by where their mark names none (default: all).",
    "exclude": "A claim or a family that no test is judged by.",
    "without": "A feature that the coordinator lacks, or an event not recorded: claims that rely on it are left out.",
}
_FLAG: Final = ("require-tested", "A claim that is asked for by its name, and that no event could break, is an error.")


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's settings; ``histories`` is None where nothing is to be kept."""

    seed: int
    broker: str
    histories: Path | None
    invariants: tuple[str, ...]
    exclude: tuple[str, ...]
    without: tuple[str, ...]
    require_tested: bool


def add_options(parser: pytest.Parser) -> None:
    """Declare the options and their ini equivalents."""
    group = parser.getgroup(GROUP, "rebalance-check: judging what tests record")
    for name, (value, _, what) in _SINGLE.items():
        group.addoption(f"--rebalance-{name}", metavar=value, help=what)
        parser.addini(f"rebalance_{name}", what)
    for name, what in _SEVERAL.items():
        group.addoption(f"--rebalance-{name}", metavar="NAME", action="append", help=f"{what} May be repeated.")
        parser.addini(f"rebalance_{name}", what, type="args")
    name, what = _FLAG
    group.addoption(f"--rebalance-{name}", action="store_true", default=None, help=what)
    parser.addini(_ini(name), what, type="bool", default=False)


def settings_of(config: pytest.Config) -> Settings:
    """The options of this run; those of the command line outweigh the ini file.

    Raises: pytest.UsageError for a seed that is no number.
    """
    seed = _given(config, "seed") or _SINGLE["seed"][1]
    if not seed.removeprefix("-").isdecimal():
        raise pytest.UsageError(f"--rebalance-seed is {seed!r}, which is no whole number: write one, such as 0")
    histories = _given(config, "histories")
    return Settings(
        seed=int(seed),
        broker=_given(config, "broker") or _SINGLE["broker"][1],
        histories=config.invocation_params.dir / histories if histories else None,
        invariants=tuple(_given(config, "invariants")),
        exclude=tuple(_given(config, "exclude")),
        without=tuple(_given(config, "without")),
        require_tested=bool(_given(config, "require-tested")),
    )


def _given(config: pytest.Config, name: str) -> Any:
    option = config.getoption(_ini(name))
    return config.getini(_ini(name)) if option is None else option


def _ini(name: str) -> str:
    return f"rebalance_{name.replace('-', '_')}"
