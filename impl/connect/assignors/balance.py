"""How work is spread: the surplus that workers give up, and where new work goes. Connectors and tasks each alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from rebalance_check.impl.connect.assignors.round import KINDS, Item
from rebalance_check.impl.protocol.java_order import utf16_key

Work = dict[str, list[Item]]
"""The work of each worker after the round, in the order of its claim; workers in the order of Java's hash map."""


def surplus(work: Mapping[str, Sequence[Item]], configured: Collection[Item]) -> dict[str, list[Item]]:
    """The work that workers above their share give up, so that each holds as many connectors and tasks as the next.

    Shares come from the configured work, so work that waits or is still to be placed counts. Nothing when no worker
    runs anything, or nothing is configured.
    """
    if not configured or not any(work.values()):
        return {}
    given_up: dict[str, list[Item]] = {}
    for of_kind in KINDS:
        total = sum(map(of_kind, configured))
        held = {worker: list(filter(of_kind, items)) for worker, items in work.items()}
        for worker, items in _surplus_of_kind(held, total):
            given_up.setdefault(worker, []).extend(items)
    return given_up


def _surplus_of_kind(held: Mapping[str, Sequence[Item]], total: int) -> Iterable[tuple[str, Sequence[Item]]]:
    """Of each worker the first items of its claim; the first workers in their order keep one more."""
    share, extras = divmod(total, len(held))
    for worker, items in held.items():
        if len(items) <= share:
            continue
        kept = share
        if extras > 0:
            kept, extras = share + 1, extras - 1
        if len(items) > kept:
            yield worker, items[: len(items) - kept]


def place(work: Work, new: Sequence[Item]) -> None:
    """Give new work to the workers with the least of its kind, in the order of ``new``: connectors, then tasks."""
    for of_kind in KINDS:
        _place_kind(work, list(filter(of_kind, new)), of_kind)


def _place_kind(work: Work, new: Sequence[Item], of_kind: Callable[[Item], bool]) -> None:
    """Round by round, one item to each of the workers that have the least."""
    load = {worker: sum(map(of_kind, items)) for worker, items in work.items()}
    line = sorted(work, key=lambda worker: (load[worker], utf16_key(worker)))
    waiting = iter(new)
    while True:
        least = load[line[0]]
        for worker in line:
            if load[worker] > least:
                break
            item = next(waiting, None)
            if item is None:
                return
            work[worker].append(item)
            load[worker] += 1
