"""``rebalance-check fuzz --broker virtual``: random stories for Kafka's own coordinator, and for ours beside it."""

from __future__ import annotations

from typing import Any

from rebalance_check.face import Face
from rebalance_check.integration.virtual import VirtualKafka, find_release
from rebalance_check.integration.virtual.differential import Campaign, campaign
from rebalance_check.integration.virtual.duet import NAMES
from rebalance_check.integration.virtual.random_stories import DEFAULT_STEPS
from rebalance_check.model.errors import RebalanceCheckError
from rebalance_check.properties.judge import EXIT_SAFETY


def fuzz_broker(
    face: Face, broker: str, seeds: range, *, steps: int | None, names: tuple[str, ...], variants: int = 1
) -> int:
    """Tell the stories of ``seeds``, ``steps`` lines each, and show what was found, shrunk.

    ``names`` are claims, or `differential`; by default all. Each is given up after ``variants`` findings.
    """
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise RebalanceCheckError(f"a broker is not judged by {unknown[0]!r}: choose among {', '.join(NAMES)}")
    with VirtualKafka(find_release(broker)) as kafka, face.progress() as advance:
        done = campaign(
            kafka, seeds, steps=steps or DEFAULT_STEPS, names=names or NAMES, variants=variants,
            progress=lambda told, total: advance("stories", told, total),
        )  # fmt: skip
    for finding in done.found:
        face.say(f"\n{finding}\n")
    face.say(str(done))
    return face.finish(document_of(done), EXIT_SAFETY if done.found else 0)


def document_of(done: Campaign) -> dict[str, Any]:
    """The JSON form of a campaign."""
    return {
        "broker": done.coordinator,
        "stories": done.stories,
        "steps": done.steps,
        "requests": done.requests,
        "seconds": round(done.seconds, 3),
        "findings": [
            {"name": each.name, "seed": each.seed, "story": list(each.story), "told": list(each.told)}
            for each in done.found
        ],
    }
