"""The fixtures that give a broker: a new embedded one for each test, or one that the option names."""

from __future__ import annotations

import pytest

pytest.importorskip("kafka", reason="the embedded broker needs the extra 'brokers'")

from rebalance_check.integration.embedded.embedded import EmbeddedBroker

pytest_plugins = ["pytester"]

CONSUMES = """
import pytest
from kafka import KafkaConsumer

def consume(bootstrap, topic="t"):
    consumer = KafkaConsumer(topic, bootstrap_servers=bootstrap, group_id="g", session_timeout_ms=6000)
    while not consumer.assignment():
        consumer.poll(timeout_ms=2_000)
    consumer.close()
"""


def test_what_clients_do_at_the_embedded_broker_is_recorded_and_judged(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        CONSUMES
        + """
@pytest.mark.rebalance
@pytest.mark.parametrize("embedded_broker", [{"t": 2}], indirect=True)
def test_consumer(embedded_broker, recorder):
    consume(embedded_broker.bootstrap)
    kinds = {type(event).__name__ for event in recorder.events}
    assert {"TopicsDescribed", "GenerationStarted", "RequestObserved"} <= kinds
"""
    )
    pytester.runpytest().assert_outcomes(passed=1)


def test_the_option_names_the_broker_of_all_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        CONSUMES
        + """
import os

@pytest.mark.parametrize("time", [1, 2])
def test_consumer(kafka, time):
    assert (kafka == os.environ["EXPECTED"]) == (os.environ["EXPECTED"] != "")
    if os.environ["EXPECTED"]:
        consume(kafka)
"""
    )
    with EmbeddedBroker({"t": 2}) as broker, pytest.MonkeyPatch.context() as environment:
        environment.setenv("EXPECTED", broker.bootstrap)
        pytester.runpytest("--rebalance-broker", broker.bootstrap).assert_outcomes(passed=2)
        environment.setenv("EXPECTED", "")
        pytester.runpytest().assert_outcomes(passed=2)


def test_a_broker_that_is_none_is_an_error_with_a_sentence(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_consumer(kafka): pass")
    result = pytester.runpytest("--rebalance-broker", "nowhere")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*'nowhere' is no broker: write embedded, local, testcontainers*"])
