"""``rebalance-check fuzz --broker virtual``: random stories for Kafka's own coordinator, and for ours beside it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from rebalance_check.face import Face
from rebalance_check.integration.cluster import open_broker
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.twins import hold_equal, twin_of
from rebalance_check.integration.virtual import VirtualKafka, find_release
from rebalance_check.integration.virtual.differential import Campaign, campaign
from rebalance_check.integration.virtual.duet import NAMES
from rebalance_check.integration.virtual.random_stories import DEFAULT_STEPS, timeless_story
from rebalance_check.integration.virtual.release import is_virtual
from rebalance_check.model.errors import RebalanceCheckError
from rebalance_check.properties.judge import EXIT_SAFETY

TOPIC: Final = ("t", 2)
"""The topic of the stories, with its partitions."""


def fuzz_broker(
    face: Face, broker: str, seeds: range, *, steps: int | None, names: tuple[str, ...], variants: int = 1
) -> int:
    """Tell the stories of ``seeds``, ``steps`` lines each, and show what was found, shrunk.

    ``names`` are claims, or `differential`; by default all. Each is given up after ``variants`` findings. A broker that
    is not virtual is told timeless stories, and its virtual twin beside it.
    """
    if not is_virtual(broker):
        return fuzz_twins(face, broker, seeds, steps or DEFAULT_STEPS)
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


def fuzz_twins(face: Face, broker: str, seeds: range, steps: int) -> int:
    """Tell the same stories to a live broker and to the virtual Kafka of its release, and show where they differ."""
    with open_broker(broker) as opened, VirtualKafka(twin_of(opened)) as kafka:
        create_topic(opened.bootstrap, *TOPIC)
        result = hold_equal(opened, kafka, [timeless_story(seed, steps=steps) for seed in seeds])
    for parted in result.parted:
        face.say(f"\n{parted}\n")
    face.say(str(result))
    return face.finish(asdict(result), EXIT_SAFETY if result.parted else 0)


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
