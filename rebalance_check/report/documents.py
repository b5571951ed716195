"""The JSON form of verdicts and counterexamples, the same in every sub-command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from rebalance_check.model.vocabulary.events import Event, RunStarted
from rebalance_check.properties.history import encode
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant, in_order
from rebalance_check.properties.verdict import Counterexample, Held, Outcome, Undecided, Verdict, Violated


def event_document(event: Event) -> dict[str, Any]:
    """An event as it stands in a history line."""
    document: dict[str, Any] = msgspec.json.decode(encode(event))
    return document


def counterexample_document(found: Counterexample | None) -> dict[str, Any] | None:
    """A counterexample: the claim, the reasons with their events, the events concerned; None stays None.

    ``repeats`` has one turn of the part that repeats until the end, and stands only where something does; so do
    ``consequences``, the violations that followed.
    """
    if found is None:
        return None
    return {
        "invariant": found.invariant,
        "headline": found.headline,
        "claim": found.claim,
        "group": found.group,
        "because": [
            {"text": str(reason), "event": event_document(reason.event) if reason.event else None}
            for reason in found.because
        ],
        "events": [event_document(event) for event in found.events],
        **({"repeats": [event_document(event) for event in found.repeats]} if found.repeats else {}),
        **({"consequences": [asdict(one) for one in found.consequences]} if found.consequences else {}),
    }


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """One verdict: held and violated with the number of events checked, untested and undecided with the reason.

    ``excused`` has the exemptions that applied, each with the number of its cases, and stands only where one did.
    """
    document: dict[str, Any] = {"verdict": verdict.outcome.value}
    if isinstance(verdict, Violated):
        document["violations"] = verdict.count
    if isinstance(verdict, Held | Violated):
        document["checked_events"] = verdict.checked_events
    else:
        document["reason"] = verdict.reason
    if not isinstance(verdict, Undecided) and verdict.excused:
        document["excused"] = dict(verdict.excused)
    return document


def counts_document(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many invariants had each outcome: ``{"held": 40, "untested": 87, "undecided": 0, "violated": 1}``."""
    counts = Counter(outcomes)
    return {outcome.value: counts[outcome] for outcome in Outcome}


def judgement_document(judgement: Judgement) -> dict[str, Any]:
    """A judgement: its outcome, the first violated invariant with its counterexample, and each verdict."""
    found = judgement.findings
    return {
        "verdict": judgement.outcome.value,
        "invariant": found[0].invariant if found else None,
        "counterexample": counterexample_document(found[0]) if found else None,
        "events": judgement.events,
        "ended": judgement.ended,
        "unread_lines": judgement.unread_count,
        "counts": counts_document(verdict.outcome for verdict in judgement.verdicts.values()),
        "verdicts": {i.name: verdict_document(v) for i, v in judgement.verdicts.items()},
    }


def invariant_document(invariant: Invariant) -> dict[str, Any]:
    """An invariant of the catalogue."""
    return {
        "name": invariant.name,
        "family": invariant.family,
        "kind": invariant.kind.value,
        "claim": invariant.claim,
        "source": invariant.source,
        "premises": list(invariant.premises),
        "exception": invariant.violation.__name__,
        "needs_end": invariant.needs_end,
        "needs": [[[kind.__name__ for kind in in_order(one)] for one in way] for way in invariant.needs],
        "exempted_by": [kind.__name__ for kind in in_order(invariant.exempted_by)],
        "relies_on": sorted(invariant.relies_on),
    }


def origin_of(started: RunStarted | None) -> Mapping[str, Any]:
    """Subject, seed and bounds of a run, as far as its history tells."""
    if started is None:
        return {}
    return {"subject": started.subject, "seed": started.seed, "bounds": started.bounds, "mutant": started.mutant}
