"""The brokers of others by name, with their programs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rebalance_check.integration.kits.brokers_of_others.other_broker import OtherBroker
from rebalance_check.integration.kits.programs.go import GoProgram
from rebalance_check.integration.kits.programs.python import PythonProgram
from rebalance_check.integration.kits.programs.rust import CrateProgram
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def _tansu_arguments(port: int, _topics: str) -> list[str]:
    url = f"tcp://127.0.0.1:{port}"
    return ["broker", "--listener-url", url, "--advertised-listener-url", url, "--storage-engine", "memory://tansu/"]


OTHER_BROKERS: Final = (
    OtherBroker(
        name="kfake",
        program=GoProgram("kfake", Path(__file__).parent / "kfake", "github.com/twmb/franz-go/pkg/kfake"),
        arguments=lambda port, topics: ["--port", str(port), "--topics", topics],
    ),
    OtherBroker(
        name="librdkafka-mock",
        program=PythonProgram("librdkafka-mock", f"{__package__}.librdkafka.broker", "confluent-kafka"),
        arguments=lambda _port, topics: ["--topics", topics],
        chooses_port=True,
    ),
    OtherBroker(
        name="tansu",
        program=CrateProgram("tansu", "0.6.0", ("dynostore",)),
        arguments=_tansu_arguments,
        creates_topics=True,
    ),
)


def other_broker(name: str) -> OtherBroker:
    """The broker of that name; `RebalanceCheckError` where there is none."""
    by_name = {each.name: each for each in OTHER_BROKERS}
    if name not in by_name:
        raise RebalanceCheckError(f"{name!r} is no broker of others: choose {', '.join(by_name)}")
    return by_name[name]
