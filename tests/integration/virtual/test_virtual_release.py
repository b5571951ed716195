"""The release that runs virtually is read from a spec and found in a folder; a sentence says what cannot be had."""

from pathlib import Path

import pytest

from rebalance_check.integration.brokers import Broker, open_broker
from rebalance_check.integration.brokers.counterpart import virtual_counterpart
from rebalance_check.integration.virtual import Release, VirtualKafka, find_release
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

SETTING = "REBALANCE_CHECK_KAFKA_JARS"


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    """A folder with a folder for each of two releases, as far as their names go."""
    for version in ("3.9.2", "4.3.1"):
        (tmp_path / version).mkdir()
        (tmp_path / version / f"kafka-clients-{version}.jar").touch()
    return tmp_path


def test_the_default_is_the_newest_release(jars: Path) -> None:
    assert find_release("virtual", str(jars)) == Release("4.3.1", jars / "4.3.1")


def test_a_spec_names_a_release_and_its_coordinator(jars: Path) -> None:
    assert find_release("virtual:3.9.2", str(jars)) == Release("3.9.2", jars / "3.9.2")
    assert find_release("virtual:3.9.2-scala", str(jars)) == Release("3.9.2", jars / "3.9.2", scala=True)
    assert find_release("virtual:3.9.2-scala", str(jars)).name == "virtual 3.9.2-scala"


def test_a_folder_of_one_release_serves__and_says_which(jars: Path) -> None:
    assert find_release("virtual", str(jars / "3.9.2")).version == "3.9.2"


def test_the_setting_may_hold_the_version(jars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, f"{jars}/{{version}}")
    assert find_release("virtual:3.9.2").jars == jars / "3.9.2"


@pytest.mark.parametrize(
    ("spec", "folder", "complaint"),
    [
        ("virtual:9", "", "'virtual:9' is no virtual Kafka"),
        ("virtual:4.3.1-scala", "", "only Kafka 3 has a coordinator in Scala"),
        ("virtual:4.3.1", "3.9.2", "holds Kafka 3.9.2, and not 4.3.1"),
        ("virtual", "nowhere", "holds no Kafka"),
    ],
)
def test_a_sentence_says_what_cannot_be_had(jars: Path, spec: str, folder: str, complaint: str) -> None:
    with pytest.raises(RebalanceCheckError, match=complaint):
        find_release(spec, str(jars / folder))


def test_without_jars_and_maven_the_setting_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RebalanceCheckError, match=f"set {SETTING} to their folder, or install Maven"):
        find_release("virtual")


def test_without_a_jdk_the_start_says_so(jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(RebalanceCheckError, match="needs a JDK of Java 17"):
        VirtualKafka(find_release("virtual", str(jars)))


def test_a_release_without_sources_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kafka-clients-2.8.0.jar").touch()
    with pytest.raises(RebalanceCheckError, match="cannot run virtually"):
        VirtualKafka(find_release("virtual:2.8.0", str(tmp_path)))


def test_clients_cannot_connect_to_virtual_kafka() -> None:
    with pytest.raises(RebalanceCheckError, match="has no address"):
        open_broker("virtual")


def test_a_broker_of_unknown_release_has_no_virtual_kafka() -> None:
    with pytest.raises(RebalanceCheckError, match="cannot be found out"):
        virtual_counterpart(Broker("127.0.0.1:9092", "127.0.0.1:9092"))
