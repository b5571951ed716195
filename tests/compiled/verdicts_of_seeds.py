"""What the judge says of simulated runs, as JSON: run by a test with the sources of the checkout."""

import json
import sys
from collections.abc import Iterable

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.properties import judge as judging
from rebalance_check.properties.judge import judge


def verdicts_of(seeds: Iterable[int]) -> list[dict[str, str]]:
    """Of each run the verdicts by claim, as text: outcomes, reasons and counts."""
    judged = [judge(simulate(seed, SimulationOptions())) for seed in seeds]
    return [{one.name: repr(verdict) for one, verdict in judgement.verdicts.items()} for judgement in judged]


if __name__ == "__main__":
    print(json.dumps({"judge": judging.__file__, "verdicts": verdicts_of(range(int(sys.argv[1])))}))
