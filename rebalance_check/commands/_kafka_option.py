"""The option of ``judge`` that holds a recorded group's replies to the reference coordinator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rebalance_check.commands._console import Console
from rebalance_check.commands._judged import Judged
from rebalance_check.commands._options import option
from rebalance_check.integration.acceptor import Acceptance, accept
from rebalance_check.model.vocabulary.events import RequestObserved, RequestSent
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.terminal import visible

CLAIM: Final = "as_kafka"
"""How verdicts name it."""

kafka_option: Final = option(
    "--as-kafka", is_flag=True,
    help="Also give each group's requests to the reference coordinator, and name the first reply that it does not "
    "give.",
)  # fmt: skip


def acceptances(judged: Sequence[Judged]) -> Iterator[Acceptance]:
    """The result of each group of the histories at the reference coordinator."""
    for one in judged:
        history = one.events()
        groups = dict.fromkeys(event.group for event in history if isinstance(event, RequestObserved | RequestSent))
        for group in groups or ("",):
            yield accept(history, group)


def outcome_of(acceptance: Acceptance) -> Outcome:
    """Its outcome as of an invariant."""
    if acceptance.refusal is not None:
        return Outcome.VIOLATED
    return Outcome.HELD if acceptance.is_accepted else Outcome.UNDECIDED


def show_acceptance(console: Console, acceptance: Acceptance) -> None:
    """The group and its outcome; of a refusal the request, its reply, and those that Kafka may give."""
    group = f"as Kafka, group {visible(acceptance.group)}" if acceptance.group else "as Kafka"
    refusal = acceptance.refusal
    if refusal is None:
        said = (
            f"undecided: {acceptance.undecided}" if acceptance.undecided else f"{acceptance.replies} replies accepted"
        )
        console.say(f"{group}: {visible(said)}")
        return
    asked, reply = refusal.asked, refusal.reply
    console.say(f"{group}: reply {acceptance.replies} is refused")
    console.say(f"  because  {refusal.api} was sent as event {asked.seq} of {visible(asked.source)}.")
    console.say(f"           its reply, event {reply.seq}, is {visible(refusal.given)};")
    for expected in refusal.expected:
        console.say(f"           a Kafka coordinator gives {visible(expected)}: contradiction.")


def acceptance_document(acceptance: Acceptance) -> dict[str, Any]:
    """The JSON form."""
    refusal = acceptance.refusal
    return {
        "group": acceptance.group, "outcome": str(outcome_of(acceptance)), "requests": acceptance.requests,
        "replies": acceptance.replies, "undecided": acceptance.undecided,
        "refusal": None if refusal is None else {
            "request": refusal.asked.seq, "reply": refusal.reply.seq, "source": refusal.reply.source,
            "given": refusal.given, "expected": list(refusal.expected),
        },
    }  # fmt: skip
