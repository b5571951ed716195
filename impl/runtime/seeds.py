"""Where randomness comes from: one seed, and a stream of its own for each thing that is drawn.

Separate streams keep the rest of a run as it was when one thing is taken away; shrinking needs that.
"""

from __future__ import annotations

from random import Random

from rebalance_check.impl.runtime.choices import chosen_stream


def stream(seed: int, name: str) -> Random:
    """The generator of ``name`` in the run of ``seed``; the same on every machine and under every PYTHONHASHSEED.

    Where the choices of a run are given (`choices`), it gives those.
    """
    return chosen_stream(seed, name) or Random(f"{seed}/{name}")
