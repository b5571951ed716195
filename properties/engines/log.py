"""Log: a reader's knowledge is the fold of the records that it read.

A cache, a coordinator that loads, a snapshot and a status page are all readers of a log. The views know the log
(`what was appended where`) and each reader (`what it read up to where, and what follows from that`); a rule compares
the state that a reader shows with the fold of the records. What is compared is what was *read*, never what the reader
says of itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.engines.form import form
from rebalance_check.properties.engines.rules import Rules, Views
from rebalance_check.properties.kinds import Fold, Invariant


def log(shows: Rules, *, views: Views, needs: Sequence[tuple[type[Event], ...]] = ()) -> Callable[[Invariant], Fold]:
    """An invariant about readers of a log.

    ``shows`` has the rule for each type of event in which a reader shows what it knows, or a record takes its place in
    the log; ``views`` are the log and its readers.
    """
    return form(shows, views=views, needs=needs)
