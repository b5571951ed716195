"""The page of judged runs: a list with the findings that are alike, and as many runs in full as a page holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.properties.signatures import shape_of
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.pages.columns import Templates
from rebalance_check.report.pages.render import SHARED_SCRIPTS, page
from rebalance_check.report.pages.shown_run import Finding, ShownRun
from rebalance_check.report.pages.timeline import run_document, timeline_document

SCRIPTS: Final = (*SHARED_SCRIPTS, "run_list.js", "report.js")
TITLE: Final = "rebalance-check"


@dataclass(frozen=True, slots=True)
class Broken:
    """A claim that a run broke: its name, its sentence, and the headline of the counterexample."""

    claim: str
    sentence: str
    headline: str

    @classmethod
    def of(cls, found: Finding) -> Broken:
        """A finding in short."""
        return cls(found.claim, found.sentence, found.headline)


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in the list: ``events`` is its length, None where it has none; ``shown`` where the page has it in full.

    ``note`` names the work in a line.
    """

    name: str
    verdict: Outcome
    events: int | None = None
    broken: Sequence[Broken] = ()
    shown: ShownRun | None = None
    note: str = ""

    @classmethod
    def of(cls, run: ShownRun) -> ListedRun:
        """A run that the page has in full."""
        broken = [Broken.of(found) for found in run.findings]
        events = sum(len(caused) for _, caused in run.steps)
        return cls(run.name, run.verdict, events, broken, run)


@dataclass(slots=True)
class _Signature:
    """Findings of one kind: the first sentence of the claim that is known, and the places of the runs."""

    sentence: str = ""
    runs: list[int] = field(default_factory=list)


def run_page(runs: Iterable[ListedRun], about: Sequence[str] = (), *, title: str = TITLE, again: str = "") -> str:
    """The page of these runs; ``about`` are lines on the work, ``again`` is a command that makes a page of a
    run that this one does not hold in full."""
    listed = list(runs)
    data: dict[str, Any] = {"page": {**_document(listed), "again": again}}
    shown = (each.shown for each in listed if each.shown is not None)
    templates = Templates()
    data |= {f"timeline-{number}": timeline_document(run.steps, templates) for number, run in enumerate(shown)}
    data["templates"] = templates.document()
    return page(title, scripts=SCRIPTS, data=data, about=about)


def _document(listed: Sequence[ListedRun]) -> dict[str, Any]:
    """All that the page shows besides timelines."""
    verdicts = list(Outcome)
    shown = [(place, each.shown) for place, each in enumerate(listed) if each.shown is not None]
    return {
        "verdicts": [verdict.value for verdict in verdicts],
        "runs": {
            "names": [each.name for each in listed],
            "verdicts": [verdicts.index(each.verdict) for each in listed],
            "events": [each.events for each in listed],
            "notes": [each.note for each in listed] if any(each.note for each in listed) else None,
        },
        "signatures": _signatures(listed),
        "shown": {
            str(place): {"timeline": number, **run_document(run)} for number, (place, run) in enumerate(shown)
        },
    }  # fmt: skip


def _signatures(listed: Sequence[ListedRun]) -> list[dict[str, Any]]:
    """The kinds of findings, those with the most runs first."""
    found: dict[tuple[str, str], _Signature] = {}
    for place, run in enumerate(listed):
        for broken in run.broken:
            alike = found.setdefault((broken.claim, shape_of(broken.headline)), _Signature())
            alike.sentence = alike.sentence or broken.sentence
            if place not in alike.runs[-1:]:
                alike.runs.append(place)
    ordered = sorted(found.items(), key=lambda item: -len(item[1].runs))
    return [
        {"claim": claim, "shape": shape, "sentence": alike.sentence, "runs": alike.runs}
        for (claim, shape), alike in ordered
    ]
