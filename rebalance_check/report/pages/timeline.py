"""A run as a page embeds it: phrases, events and lanes in columns, and its findings with the steps they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.verdict import STEP
from rebalance_check.report.lanes import Places
from rebalance_check.report.pages.columns import Templates
from rebalance_check.report.pages.event_columns import EventColumns, PhraseColumns
from rebalance_check.report.pages.shown_run import Finding, ShownRun
from rebalance_check.report.pages.swimlanes import Swimlanes
from rebalance_check.report.terminal import visible


def timeline_document(steps: Sequence[tuple[str, Sequence[Event]]], templates: Templates) -> dict[str, Any]:
    """The steps as columns; ``counts`` has the number of events of each step, or null where each has one.

    ``templates`` are those of the page, which embeds them once behind all timelines.
    """
    phrases, events, lanes = PhraseColumns(templates), EventColumns(templates), Swimlanes()
    for row, (action, caused) in enumerate(steps):
        phrases.add(visible(action))
        for event in caused:
            events.add(event)
            lanes.observe(row, event)
    counts = [len(caused) for _, caused in steps]
    return {
        "steps": len(counts),
        "counts": None if all(count == 1 for count in counts) else counts,
        "phrases": phrases.document(),
        "events": events.document(),
        **lanes.document(),
    }


def run_document(run: ShownRun) -> dict[str, Any]:
    """The data of a run's page besides its timeline."""
    places = Places()
    for number, (_, caused) in enumerate(run.steps, 1):
        places.note(number, caused)
    return {
        "run": run.origin.run,
        "replay": run.origin.replay,
        "seed": run.origin.seed,
        "lines": list(run.lines),
        "file": run.file_name,
        "repeatsAfter": run.repeats_after,
        "findings": [_finding_document(found, places, len(run.steps)) for found in run.findings],
    }


def _finding_document(found: Finding, places: Places, steps: int) -> dict[str, Any]:
    """A finding, each reason with the number of its step, 0 for none; ``step`` is where the claim broke."""
    return {
        "claim": found.claim,
        "headline": found.headline,
        "sentence": found.sentence,
        "because": [
            {"text": each.text.replace(STEP, places.step_of(each.event)), "step": places.number_of(each.event)}
            for each in found.because
        ],
        "steps": sorted({places.number_of(event) for event in found.events} - {0}),
        "step": places.number_of(found.events[-1]) if found.events else steps,
    }
