"""``rebalance-check compare SUBJECT SUBJECT``: the same input for two subjects, whose answers must be equal."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import click

from rebalance_check.commands._assignor_options import assignor_options
from rebalance_check.commands._bounds_options import bounds_options, chosen_bounds
from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._claim_options import INVARIANT
from rebalance_check.commands._compare_assignors import compare_assignors
from rebalance_check.commands._compare_model import compare_walks
from rebalance_check.commands._compare_requests import RequestOptions, compare_requests
from rebalance_check.commands._compare_scenarios import Wanted, compare_with_virtual
from rebalance_check.commands._compare_transitions import compare_transitions
from rebalance_check.commands._console import Console
from rebalance_check.commands._options import (
    Command,
    json_option,
    minutes_option,
    option,
    out_option,
    refuse_others,
    seed_option,
)
from rebalance_check.integration.comparison.assignors.release import DEFAULT_VERSION
from rebalance_check.integration.wire.call import split_address
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.campaign import parse_seeds

WALKS: Final = 200
MODEL: Final = frozenset({"protocol", "bounds", "path", "junit", "github"})

KINDS: Final = ("model", "ours", "embedded", "virtual", "local", "testcontainers", "assignors", "kafka")
"""The subjects that have a name; all but the first three and the assignors may also be an address."""

LIVE: Final = "live"
"""Any broker with an address that is not ours."""


class Pair(NamedTuple):
    """Two kinds of subjects: the questions to both, and the options for them."""

    first: str
    second: str
    what: str
    options: frozenset[str]


ON_SOCKETS: Final = MODEL | {"walks", "steps", "seed", "real_timers", "out"}
SCENARIOS: Final = frozenset({"seeds", "steps", "junit", "github"})

PROBLEMS: Final = frozenset({"seeds", "assignors", "shapes"})

PAIRS: Final = (
    Pair("model", "ours", "every transition, on our coordinator in this process", MODEL),
    Pair("model", "virtual", "walks or every transition, on Kafka's coordinator",
         MODEL | {"walks", "steps", "seed", "every", "out"}),
    Pair("model", "embedded", "walks, as raw requests to our broker on a socket", ON_SOCKETS),
    Pair("model", LIVE, "walks, as raw requests to a broker", ON_SOCKETS),
    Pair("ours", "virtual", "random scenarios, and walks through the model",
         SCENARIOS | {"names", "minutes"}),
    Pair("embedded", "virtual", "random requests of all group apis and versions", SCENARIOS),
    Pair("embedded", LIVE, "the same", SCENARIOS),
    Pair("virtual", LIVE, "the same, on the virtual Kafka of the broker's release", SCENARIOS),
    Pair("embedded", "embedded", "the same, to try the comparison", SCENARIOS),
    Pair("assignors", "kafka", "random problems for our assignors and Kafka's", PROBLEMS),
)  # fmt: skip
"""The pairs that can be compared."""

HELP: Final = (
    "Ask two subjects the same, and show where their answers differ.\n\n\b\n"
    + "\n".join(f"{f'{one.first} {one.second}'.replace(LIVE, 'BROKER'):<20}{one.what}" for one in PAIRS)
    + "\n\nBROKER is HOST:PORT, local (jars and java) or testcontainers (Docker). virtual, virtual:4.3.1, "
    "virtual:3.9.2 and virtual:3.9.2-scala are Kafka's own coordinator in virtual time, which needs a JDK. An ADDRESS, "
    "as a counterexample prints it, is a path of the model to send to the broker."
)


@click.command("compare", cls=Command, help=HELP)
@click.argument("first", metavar="SUBJECT")
@click.argument("second", metavar="SUBJECT")
@click.argument("addresses", nargs=-1, metavar="[ADDRESS]...")
@option("--seeds", default="0:100", show_default=True, metavar="FIRST:LAST",
        help="Of scenarios, requests and assignment problems: from FIRST up to, not including, LAST.")  # fmt: skip
@option("--steps", type=click.IntRange(1, 100_000), metavar="N",
        help="Lines of a scenario, actions of a walk (default: 60), or requests of a seed (300).")  # fmt: skip
@bounds_options
@option("--walks", type=click.IntRange(1, 1_000_000), default=WALKS, show_default=True, metavar="N",
        help="Take N random walks through the model.")  # fmt: skip
@option("--every-transition", "every", is_flag=True,
        help="Take every transition within the bounds instead of walks (virtual; ours does so always).")  # fmt: skip
@seed_option
@option("--invariant", "names", **INVARIANT)
@minutes_option("Go on with further seeds, and end")
@assignor_options
@option("--real-timers", is_flag=True, rare=True,
        help="Let sessions run out instead of leaving in the member's name.")  # fmt: skip
@out_option("the histories of walks")
@ci_options()
@json_option
def command(*, first: str, second: str, as_json: bool, ci: CiOptions, every: bool, **options: Any) -> int:
    """Find the pair, and do its comparison."""
    console, (pair, second) = Console(as_json), pair_of(first, second)
    called = f"compare {pair.first} {pair.second}" + " --every-transition" * every
    refuse_others(called, pair.options - {"walks", "steps", "seed", "out"} if every else pair.options)
    every = every or pair.second == "ours"
    if options["addresses"] and (pair.first != "model" or every):
        raise RebalanceCheckError("an ADDRESS is a path of the model: write compare model BROKER ADDRESS")
    seeds = parse_seeds(options["seeds"])
    match pair.first:
        case "model" if every:
            bounds = chosen_bounds(options["protocol"], options["bounds"], options["path"])
            return compare_transitions(console, second, bounds, ci)
        case "model":
            return compare_walks(console, second, options, ci)
        case "embedded" | "virtual":
            return compare_requests(console, RequestOptions(pair.first, second, seeds, options["steps"]), ci)
        case "assignors":
            release = second.partition(":")[2] or DEFAULT_VERSION
            return compare_assignors(console, release, seeds, options["assignors"], options["shapes"])
    wanted = Wanted(seeds, options["steps"], options["names"], options["minutes"])
    return compare_with_virtual(console, second, wanted, ci)


def pair_of(first: str, second: str) -> tuple[Pair, str]:
    """The pair of two subjects, in either order, and the name of its second one.

    Raises: RebalanceCheckError for a text that is no subject, and for two that cannot be compared.
    """
    kinds = kind_of(first), kind_of(second)
    for pair in PAIRS:
        if kinds == (pair.first, pair.second):
            return pair, second
        if kinds == (pair.second, pair.first):
            return pair, first
    known = ", ".join(f"{pair.first} {pair.second.replace(LIVE, 'BROKER')}" for pair in PAIRS)
    raise RebalanceCheckError(f"{first} and {second} cannot be compared: choose {known}")


def kind_of(subject: str) -> str:
    """The kind of a subject.

    Raises: RebalanceCheckError where it is none.
    """
    kind = subject.partition(":")[0]
    if kind in ("local", "testcontainers"):
        return LIVE
    if kind in KINDS and (subject == kind or kind in ("virtual", "kafka")):
        return kind
    try:
        split_address(subject)
    except RebalanceCheckError:
        raise RebalanceCheckError(f"{subject!r} is no subject: write {', '.join(KINDS)}, or HOST:PORT") from None
    return LIVE
