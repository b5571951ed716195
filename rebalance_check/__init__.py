"""rebalance-check: prove, fuzz and replay group rebalancing until "exactly one owner" is a fact.

The library in three lines::

    from rebalance_check import judge, read_history

    judge(read_history("history.jsonl")).check()

raises the `Violation` of the first broken invariant, with its counterexample. Importing this package imports nothing
else: a public name is imported when it is used, and one with an extra (exploring, Hypothesis, brokers, Spark) by its
own module only.
"""

from typing import Any as _Any

from rebalance_check._lazy_names import imported as _imported
from rebalance_check._lazy_names import modules_of_names as _modules_of_names

_MODULE_OF = _modules_of_names()

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605 - the stub lists them


def __getattr__(name: str) -> _Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'rebalance_check' has no attribute {name!r}")
    value = globals()[name] = _imported(_MODULE_OF[name], name)
    return value


def __dir__() -> list[str]:
    return __all__
