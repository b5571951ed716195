"""Every command that is about Kafka Connect prints one JSON object with ``--json``, and nothing else on its output."""

from collections.abc import Callable

import pytest

from tests.command_line.conftest import Answer

Command = Callable[..., Answer]

HISTORY = "configure c1 4; join w1; round; join w2; round"
COMMANDS = {
    "a model of workers": "explore --protocol connect-eager --members 1 --generations 2 --config-changes 0 "
    "--interpreted",
    "a witness": "explore --protocol connect-incremental --crashes 0 --config-changes 0 --interpreted "
    "--witness all_work_runs",
    "random walks": "explore --protocol connect-incremental --walks 2 --interpreted",
    "the config topic": "explore --protocol connect-config --members 1 --partitions 1 --writes 2 --interpreted "
    "--liveness",
    "exactly-once sources": "explore --protocol connect-exactly-once --partitions 1 --expiries 0 --interpreted",
    "a path of modes": "explore --upgrade eager-to-compatible --partitions 1 --interpreted --max-states 100",
    "a simulated cluster": "fuzz --protocol connect --mode sessioned --steps 2 --seeds 0:1 --workers 1",
    "random rounds": "assignors --assignor connect-incremental --version ours --seeds 0:1",
    "eager rounds": "assignors --assignor connect-eager --version ours --seeds 0:1",
    "a cluster without Kafka": "live --protocol connect",
}


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_command_about_connect_prints_one_json_object(command: Command, line: str) -> None:
    answer = command(*line.split(), "--json")
    assert answer.document["exit_code"] == answer.code


def test_a_history_of_rounds_too(command: Command) -> None:
    answer = command("assignors", "ours", "--assignor", "connect-incremental", "--input", HISTORY, "--json")
    assert (answer.document["verdict"], answer.document["rounds"], answer.code) == ("held", 3, 0)
