"""The page ``docs/invariants.md``, from the catalogue."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.coverage import LISTS, Statement, spoken_for
from rebalance_check.properties.kinds import Invariant, in_order, one_of

_HEAD = """\
# The invariants

What `rebalance-check judge` and every subject's run are held against. Each is a claim about events
([history.schema.json](history.schema.json)); its verdict is *held*, *violated* with a counterexample, *undecided*
where a premise fails, or *untested* where the history has nothing that could break it. An invariant *needs* one of the
events named, and one more of each list after "and". An event that *exempts* may show that what looks like a violation
is none: a history in which such events happen and are not recorded accuses without cause, so record them, or leave the
claim out (`--without EVENT`). What an invariant *relies on* is a feature of the coordinator (`--without leader`,
`generations`, `sync-group`). This page is generated: `rebalance-check invariants --markdown > docs/invariants.md`.
"""

_REFERENCE = """\
## Where each statement about the protocol is held

The classic protocol, in statements drawn up from the source of Apache Kafka: of the broker's side and of the client's.
`assignors.*` are claims about one answer of an assignor ([assignors](assignors.md)), `model.*` what the
explorer checks on every state.
"""


def catalogue_markdown(invariants: Sequence[Invariant]) -> str:
    """A section per family, an entry per invariant."""
    parts = [_HEAD]
    for family, members in groupby(invariants, key=lambda invariant: invariant.family):
        parts.append(f"## {family.replace('_', ' ')}\n")
        parts += [_entry(invariant) for invariant in members]
    return "\n".join([*parts, _REFERENCE, *(_table(side, statements) for side, statements in LISTS.items())])


def _table(side: str, statements: Sequence[Statement]) -> str:
    rows = [
        f"### {side[0].upper()}{side[1:]}, 1-{len(statements)}\n",
        "| | statement | held as | by |",
        "|---|---|---|---|",
    ]
    for each in statements:
        claims = ", ".join(f"`{claim}`" for claim in each.claims) or "-"
        why = f"{each.fate}: {each.why}" if each.why else str(each.fate)
        rows.append(f"| {each.number} | {each.says} | {why} | {claims} |")
    return "\n".join(rows) + "\n"


def _entry(invariant: Invariant) -> str:
    lines = [
        f"### {invariant.name}\n",
        f"{invariant.claim[0].upper()}{invariant.claim[1:]}.\n",
        f"- kind: {invariant.kind}; exception: `{invariant.violation.__name__}`",
        f"- source: {invariant.source}",
        *(f"- premise: {premise}" for premise in invariant.premises),
        f"- needs: {needs_text(invariant)}",
        *([f"- exempted by: {names_of(invariant.exempted_by)}"] if invariant.exempted_by else []),
        *([f"- relies on: {', '.join(sorted(invariant.relies_on))}"] if invariant.relies_on else []),
        *([f"- speaks for: {', '.join(spoken)}"] if (spoken := spoken_for(invariant.name)) else []),
    ]
    breaking = smallest_breaking_history(invariant)
    if breaking:
        lines += ["\nThe smallest history that breaks it:\n", "```python", breaking, "```"]
    return "\n".join(lines) + "\n"


def needs_text(invariant: Invariant) -> str:
    """The events that the claim needs: one of each set, in one of the ways."""
    return "; or else ".join("; and ".join(one_of(needed) for needed in way) for way in invariant.needs)


def names_of(kinds: Iterable[type[Event]]) -> str:
    """The names of event types, in the order of the vocabulary."""
    return ", ".join(kind.__name__ for kind in in_order(kinds))


def smallest_breaking_history(invariant: Invariant) -> str:
    """The code block that stands under the invariant in its module: the text after its value, up to its end."""
    if invariant.breaks:
        return inspect.cleandoc(invariant.breaks)
    modules = (inspect.getmodule(invariant.fold), inspect.getmodule(invariant.violation))
    sources = "".join(inspect.getsource(module) for module in dict.fromkeys(modules) if module)
    after = sources.partition(f'name="{invariant.name}"')[2]
    found = re.search(r'breaks it::\n\n(.*?)\n"""', after, re.DOTALL)
    return inspect.cleandoc(found[1]) if found else ""
