"""The input of GitHub's runner: commands for annotations among the lines of a step, the Markdown of its summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final

from rebalance_check.properties.verdict import Outcome, names_by_reason
from rebalance_check.report.claim_results import ClaimResult
from rebalance_check.report.terminal import visible, visible_lines

MOST_EXPLAINED: Final = 50
"""So many violations are explained in a summary, which GitHub refuses above 1 MiB; the others are counted."""

LONGEST_TEXT: Final = 16_000
"""So many characters of an explanation are shown in a summary."""

_COLUMNS: Final = (Outcome.VIOLATED, Outcome.UNDECIDED, Outcome.UNTESTED, Outcome.HELD)


def workflow_commands(results: Iterable[ClaimResult], workspace: Path) -> Iterator[str]:
    """The workflow commands: an error for each violation and each doubt, a notice for a known finding left out.

    Files below ``workspace`` are named from there, as GitHub names those of the repository.
    """
    results = list(results)
    for each in results:
        if each.outcome is Outcome.VIOLATED:
            where = {"file": named(each.place.path, workspace), "line": str(each.place.line)} if each.place else {}
            yield command("error", {**where, "title": f"{each.claim} is violated"}, _with_command(each))
        for note in each.notes:
            yield command("notice", {"title": each.subject}, note)
    for reason, names in names_by_reason(doubts_of(results)).items():
        yield command("error", {"title": "undecided"}, f"{reason}\n{', '.join(names)}")


def _with_command(each: ClaimResult) -> str:
    return "\n".join(filter(None, [each.headline, *(text for text, _ in each.steps), each.command]))


def command(name: str, properties: Mapping[str, str], message: str) -> str:
    """``::error file=a,line=1::message``, with everything escaped that would end a part of it."""
    given = ",".join(f"{key}={_escaped(visible(value), _IN_PROPERTY)}" for key, value in properties.items())
    return f"::{name}{' ' * bool(given)}{given}::{_escaped(visible_lines(message), _IN_MESSAGE)}"


_IN_MESSAGE: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY: Final = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}


def _escaped(text: str, codes: Mapping[str, str]) -> str:
    return "".join(codes.get(char, char) for char in text)


def named(path: Path, workspace: Path) -> str:
    """The path of a file as it is called from the workspace; as it is where it lies elsewhere."""
    whole = path.resolve()
    inside = whole.is_relative_to(workspace.resolve())
    return (whole.relative_to(workspace.resolve()) if inside else path).as_posix()


def summary(title: str, results: Sequence[ClaimResult]) -> str:
    """The Markdown of a step's summary: figures by subject, each violation with its explanation, each doubt."""
    broken = [each for each in results if each.outcome is Outcome.VIOLATED]
    blocks = [f"## {_inline(title)}", _table(results), *map(_explanation, broken[:MOST_EXPLAINED])]
    if len(broken) > MOST_EXPLAINED:
        blocks.append(f"{len(broken) - MOST_EXPLAINED:,} more violations")
    for reason, names in names_by_reason(doubts_of(results)).items():
        blocks.append(f"**undecided**: {_inline(reason)}: {_inline(', '.join(names))}")
    blocks += [f"**known, left out**: {_inline(note)}" for each in results for note in each.notes]
    return "\n\n".join(blocks) + "\n"


def doubts_of(results: Iterable[ClaimResult]) -> Mapping[str, str]:
    """The undecided claims: the claim and its subject, with the reason."""
    return {f"{each.claim} ({each.subject})": each.text for each in results if each.outcome is Outcome.UNDECIDED}


def _table(results: Sequence[ClaimResult]) -> str:
    counts: dict[str, Counter[Outcome]] = {}
    for each in results:
        counts.setdefault(each.subject, Counter())[each.outcome] += 1
    rows = [["subject", *_COLUMNS], ["---", *["---:"] * len(_COLUMNS)]]
    rows += [[_inline(subject), *(f"{found[outcome]:,}" for outcome in _COLUMNS)] for subject, found in counts.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _explanation(each: ClaimResult) -> str:
    text = visible_lines(each.text)[:LONGEST_TEXT]
    fence = max(["``", *re.findall("`+", text)], key=len) + "`"
    where = f" ({each.place.path}, line {each.place.line})" if each.place else ""
    head = escape(visible(each.headline + where))
    return f"<details><summary>{head}</summary>\n\n{fence}text\n{text}\n{fence}\n\n</details>"


def _inline(text: str) -> str:
    """The text on one line, with every character escaped that Markdown or HTML would read as its own."""
    return re.sub(r"([\\`*_\[\]<>|#&~])", r"\\\1", visible(text))
