"""How every comparison is reported: its differences, its figures, the known differences that it met, the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult

SHOWN: Final = 5
"""So many differences are printed; the JSON has all of them."""

DIFFERENCE: Final = "difference"
"""The name under which a comparison is violated, where the difference is about no claim with a name."""

Named = Callable[[Difference], str]
"""The claim that a difference is about."""


def _difference(_found: Difference) -> str:
    return DIFFERENCE


def say_compared(console: Console, parts: Sequence[Compared], *, shown: int = SHOWN) -> None:
    """The differences, then a line of figures for each part, with the known differences that it met."""
    say_differences(console, [found for part in parts for found in part.differences][:shown])
    for part in parts:
        about = f"{part.about}, " if part.about and len(parts) > 1 else ""
        console.say(f"{about}{part}")
        for name, count in sorted(part.known.items()):
            console.say(f"  known, {count:,} times: {name}")


def say_differences(console: Console, found: Sequence[Difference]) -> None:
    """Each apart."""
    for each in found:
        console.say(f"{each}\n")


def outcome_of(parts: Sequence[Compared], *, is_complete: bool = True) -> Outcome:
    """Violated by a difference that nothing explains; undecided where not all was compared; else held."""
    if any(part.differences for part in parts):
        return Outcome.VIOLATED
    return Outcome.HELD if is_complete else Outcome.UNDECIDED


def finish(
    console: Console,
    parts: Sequence[Compared],
    ci: CiOptions,
    *,
    claims: Sequence[str] = (DIFFERENCE,),
    named: Named = _difference,
    is_complete: bool = True,
) -> ExitCode:
    """The last line, the output for CI systems, and the document.

    ``claims`` are those that could have been violated; ``named`` says which of them a difference is about.
    """
    outcome = outcome_of(parts, is_complete=is_complete)
    code = exit_code_of(outcome)
    found = [each for part in parts for each in part.differences]
    ci.write(console, "compare", lambda: results_of(parts, claims, named, outcome), code)
    figures = ", ".join(f"{count:,} {name}" for name, count in total(parts).items() if count)
    console.say(
        verdict_line(outcome, map(named, found), f"{figures}; {len(found):,} differences that nothing explains")
    )
    return console.finish(document_of(parts) | {"verdict": outcome.value}, code)


def results_of(
    parts: Sequence[Compared], claims: Sequence[str], named: Named, outcome: Outcome = Outcome.HELD
) -> list[ClaimResult]:
    """Each difference, and each claim without one, for CI systems."""
    subject = parts[0].name
    found = [(part, each) for part in parts for each in part.differences]
    broken = [
        ClaimResult(
            subject=part.name, claim=named(each), outcome=Outcome.VIOLATED, text=str(each), command=each.again
        )
        for part, each in found
    ]  # fmt: skip
    whole = Outcome.HELD if outcome is Outcome.VIOLATED else outcome
    left = [name for name in claims if name not in {one.claim for one in broken}]
    return broken + [ClaimResult(subject=subject, claim=name, outcome=whole) for name in left]


def total(parts: Sequence[Compared]) -> Counter[str]:
    """The counts of all parts."""
    counts = Counter[str]()
    for part in parts:
        counts.update(part.counts)
    return counts


def document_of(parts: Sequence[Compared]) -> dict[str, Any]:
    """The JSON form of a comparison."""
    return {
        "compared": list(parts[0].sides),
        "counts": dict(total(parts)),
        "seconds": round(sum(part.seconds for part in parts), 3),
        "known": dict(sorted(sum((part.known for part in parts), Counter[str]()).items())),
        "reached": dict(sorted(sum((part.reached for part in parts), Counter[str]()).items())),
        "differences": [difference_document(each) for part in parts for each in part.differences],
        "parts": [part_document(part) for part in parts] if len(parts) > 1 else [],
    }


def part_document(part: Compared) -> dict[str, Any]:
    """One of the comparisons: its topic, its figures, and one example of each known difference."""
    return {
        "about": part.about,
        "counts": dict(part.counts),
        "known": dict(sorted(part.known.items())),
        "examples": {name: difference_document(one) for name, one in sorted(part.examples.items())},
        "differences": len(part.differences),
    }


def difference_document(found: Difference) -> dict[str, Any]:
    """The JSON form of a difference."""
    return {
        "compared": list(found.sides),
        "origin": found.origin,
        "kind": found.kind,
        "steps": list(map(str, found.steps)),
        "fields": [{"name": each.name, "values": [str(each.first), str(each.second)]} for each in found.fields],
        "again": found.again,
    }


def with_commands(part: Compared, command: Callable[[Difference], str]) -> Compared:
    """The comparison, each difference with the command that shows it again."""
    return replace(part, differences=[replace(each, again=command(each)) for each in part.differences])
