"""The options of campaigns: what is known, when they end, and which seeds come first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.known import NOTHING_KNOWN, KnownFindings, read_known


@dataclass(frozen=True, slots=True)
class KnownOptions:
    """``listed`` are the findings that are known, ``strict`` lets them decide over the exit code all the same."""

    listed: KnownFindings = NOTHING_KNOWN
    strict: bool = False


NO_LIST: Final = KnownOptions()


@dataclass(frozen=True, slots=True)
class CampaignOptions:
    """Whether the campaign stops at its first new finding, and the folder of its corpus; None for none."""

    stop_at_first: bool = False
    corpus: Path | None = None


def refuse_campaign_options(known: KnownOptions, ends: CampaignOptions, what: str) -> None:
    """Refuse the options of campaigns where something else is run.

    Raises: RebalanceCheckError when one of them is named.
    """
    if known != NO_LIST or ends != CampaignOptions():
        raise RebalanceCheckError(
            f"--known, --strict, --stop-at-first and --corpus are for campaigns that judge histories, and {what} are "
            "compared or only looked at: leave them out"
        )


def known_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--known`` and ``--strict``, and hand them to ``command`` as ``known``, a `KnownOptions`."""

    @wraps(command)
    def with_known(*, known_file: Path | None, strict: bool, **others: Any) -> Any:
        listed = NOTHING_KNOWN if known_file is None else read_known(known_file)
        return command(known=KnownOptions(listed, strict), **others)

    wrapped: Callable[..., Any] = with_known
    what = "Known findings count as violations: exit code 10 or 11."
    wrapped = click.option("--strict", is_flag=True, help=what)(wrapped)
    what = "A TOML file of known findings: they are counted apart, and are no violations (docs/campaigns.md)."
    path = click.Path(path_type=Path)
    return click.option("--known", "known_file", type=path, metavar="FILE", help=what)(wrapped)


def stop_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option ``--stop-at-first``."""
    return click.option("--stop-at-first", is_flag=True, help="End at the first finding that is not known.")(command)


def campaign_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--stop-at-first`` and ``--corpus``, and hand them to ``command`` as ``ends``, a `CampaignOptions`."""

    @wraps(command)
    def with_ends(*, stop_at_first: bool, corpus: Path | None, **others: Any) -> Any:
        return command(ends=CampaignOptions(stop_at_first, corpus), **others)

    what = "Keep the seeds that found something there, and run those of the same options first (default: none is kept)."
    path = click.Path(path_type=Path, file_okay=False)
    return stop_option(click.option("--corpus", type=path, metavar="DIR", help=what)(with_ends))
