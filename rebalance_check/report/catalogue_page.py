"""The page of invariants, from the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.coverage import LISTS
from rebalance_check.properties.examples import as_call, events_of
from rebalance_check.properties.families import QUESTIONS
from rebalance_check.properties.kinds import Invariant, in_order, one_of

_HEAD = """\
# The invariants

Each invariant is a claim about the events of a history (`rebalance-check schema`). Its verdict is
*held*, *violated* with a counterexample, *undecided* where a premise fails, or *untested* where nothing in the
history could break it. An invariant *needs* one of the events named, and one more of each list after "and". An
event that *exempts* may show that an apparent violation is none: a history in which such events happen and are not
recorded accuses without cause, so record them, or leave the invariant out (`--without EVENT`). A feature of the
coordinator that an invariant *relies on* can be left out, too (`--without leader`, `generations`, `sync-group`).
The code is the smallest history that breaks the invariant. `rebalance-check invariants --markdown` writes this
page.
"""

_REFERENCE = """\
## Where each statement about the protocol is held

The classic protocol, in statements drawn up from the source of Apache Kafka: of the broker's side and of the client's.
`assignors.*` are claims about one answer of an assignor ([assignors](../assignors.md)), `model.*` what the
explorer checks on every state.
"""


def catalogue_markdown(invariants: Sequence[Invariant]) -> str:
    """A section per family under the question that it answers, an entry per invariant."""
    parts = [_HEAD]
    for family, question in QUESTIONS.items():
        members = [invariant for invariant in invariants if invariant.family == family]
        if members:
            parts.append(f"## {family}: {question[0].lower()}{question[1:]}\n")
            parts += [_entry(invariant) for invariant in members]
    return "\n".join([*parts, _REFERENCE, *(_table(side, statements) for side, statements in LISTS.items())])


def _table(side: str, statements: Mapping[str, str]) -> str:
    rows = [f"### {side[0].upper()}{side[1:]}, 1-{len(statements)}\n", "| | statement | by |", "|---|---|---|"]
    for number, (says, claims) in enumerate(statements.items(), 1):
        by = ", ".join(f"`{claim}`" for claim in claims.split()) or "- (KIP-848)"
        rows.append(f"| {number} | {says} | {by} |")
    return "\n".join(rows) + "\n"


def _entry(invariant: Invariant) -> str:
    about = [
        f"Needs {needs_text(invariant)}.",
        *([f"Exempted by {names_of(invariant.exempted_by)}."] if invariant.exempted_by else []),
        *([f"Relies on {', '.join(sorted(invariant.relies_on))}."] if invariant.relies_on else []),
    ]
    lines = [
        f"### {invariant.name}",
        f"{_sentence(invariant.claim)} *{_sentence(invariant.kind)}* Source: {invariant.source}.",
        *([f"Premises: {'; '.join(invariant.premises)}."] if invariant.premises else []),
        " ".join(about),
    ]
    return "\n".join([*lines, "```python", smallest_breaking_history(invariant), "```"]) + "\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def needs_text(invariant: Invariant) -> str:
    """The events that the claim needs: one of each set, in one of the ways."""
    return "; or else ".join("; and ".join(one_of(needed) for needed in way) for way in invariant.needs)


def names_of(kinds: Iterable[type[Event]]) -> str:
    """The names of event types, in the order of the vocabulary."""
    return ", ".join(kind.__name__ for kind in in_order(kinds))


def smallest_breaking_history(invariant: Invariant) -> str:
    """The declared history that breaks it, an event a line."""
    return "\n".join(as_call(event) for event in events_of(invariant.opening, invariant.breaks))
