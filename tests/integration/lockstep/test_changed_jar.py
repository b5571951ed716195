"""A changed connect-runtime is held against ours: its jar takes the place of the release's in a folder of jars."""

import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from rebalance_check.cli import cli
from rebalance_check.integration.comparison.stores.compare import compare
from rebalance_check.integration.comparison.stores.config_ours import OurConfigStores
from rebalance_check.integration.comparison.stores.config_sequences import record_sequences
from rebalance_check.integration.comparison.stores.java_stores import JavaStores, StoreKind
from rebalance_check.integration.jvm import JARS_SETTING, java_tool
from rebalance_check.integration.virtual import Release, find_release

pytestmark = pytest.mark.virtual

VERSION = "4.3.1"
RUNTIME = f"connect-runtime-{VERSION}.jar"
ASSIGNOR = "org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeAssignor"
CONFIG_STORE = "org.apache.kafka.connect.storage.KafkaConfigBackingStore"
Change = Callable[[str, str], Release]


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Change:
    """Makes a folder of the release's jars in which one method of connect-runtime does nothing, and the setting."""
    release = find_release(f"virtual:{VERSION}")

    def change(class_name: str, method: str) -> Release:
        jars, classes = tmp_path / "changed", tmp_path / "classes"
        shutil.copytree(release.jars, jars, copy_function=lambda source, target: Path(target).symlink_to(source))
        subprocess.run(
            [java_tool("java", "a changed jar", 17), "-cp", f"{release.jars}/*",
             str(Path(__file__).parent / "ChangeMethod.java"), class_name, method, "if (true) return;", str(classes)],
            check=True, timeout=120,
        )  # fmt: skip
        (jars / RUNTIME).unlink()
        with zipfile.ZipFile(release.jars / RUNTIME) as old, zipfile.ZipFile(jars / RUNTIME, "w") as new:
            for entry in old.namelist():
                replaced = classes / entry
                new.writestr(entry, replaced.read_bytes() if replaced.is_file() else old.read(entry))
        monkeypatch.setenv(JARS_SETTING, str(jars))
        return find_release(f"virtual:{VERSION}")

    return change


def test_a_changed_assignor_breaks_claims_and_differs_from_ours(changed: Change) -> None:
    changed(ASSIGNOR, "handleLostAssignments")
    arguments = ["--assignor", "connect-incremental", "--seeds", "0:10"]
    judged = CliRunner().invoke(cli, ["assignors", VERSION, *arguments], standalone_mode=False)
    assert "verdict: violated: " in judged.output
    assert "lost_work_waits" in judged.output or "complete" in judged.output
    compared = CliRunner().invoke(cli, ["compare", "assignors", f"kafka:{VERSION}", *arguments], standalone_mode=False)
    assert "connect-runtime 4.3.1 and our own differ in " in compared.output


def test_a_changed_config_store_differs_from_ours(changed: Change) -> None:
    release = changed(CONFIG_STORE, "processConnectorRemoval")
    with JavaStores(release, StoreKind.CONFIG) as java:
        assert compare(OurConfigStores(), java, record_sequences(Random(1), 40)).differences
