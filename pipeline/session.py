"""A Spark session that starts fast and listens on loopback only, and a clear error when there is no Java for it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.jvm_messages import filtered_errors

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

LOCAL_MASTER: Final = "local[*]"
OLDEST_JAVA: Final = 17
"""Spark 4 runs on Java 17 and later."""

WORKER_ERRORS: Final = r"rebalance_check\.\w[\w.]*Error"

EVERYWHERE: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # the console draws the only progress bar
    "spark.python.unix.domain.socket.enabled": "true",  # on TCP Python and Java wait 40 ms for each other, many times
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",  # one row is a whole run
    "spark.sql.parquet.compression.codec": "zstd",
}
EMBEDDED: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "  # up in 8 s instead of 12 s
        f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
    ),
    "spark.sql.shuffle.partitions": "4",
}


@cache
def java_version() -> int | None:
    """The major version of the Java that Spark would use (JAVA_HOME, else the PATH); None when there is none."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        return None
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d+)', answer)
    return int(match[1]) if match else None


def java_available() -> bool:
    """Whether there is a Java that Spark runs on."""
    version = java_version()
    return version is not None and version >= OLDEST_JAVA


def require_java() -> None:
    """Check that there is a Java that Spark runs on.

    Raises: RebalanceCheckError when there is none, or when it is too old.
    """
    version = java_version()
    if version is None:
        where = f"JAVA_HOME={os.environ['JAVA_HOME']}" if os.environ.get("JAVA_HOME") else "the PATH"
        raise RebalanceCheckError(
            f"no working Java in {where}, and Spark needs one: install Java {OLDEST_JAVA}, or choose --engine local"
        )
    if version < OLDEST_JAVA:
        raise RebalanceCheckError(
            f"Java {version} is too old for Spark: install Java {OLDEST_JAVA} or later, or choose --engine local"
        )


@contextmanager
def spark_session(master: str = LOCAL_MASTER) -> Iterator[SparkSession]:
    """A session on ``master``; the one that is already active is used and left running, one of our own is stopped.

    Python workers run the interpreter of this process when Spark is embedded (``local[...]``); a cluster's workers
    follow PYSPARK_PYTHON as usual. Raises `RebalanceCheckError` without Java or without PySpark.
    """
    require_java()
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra, and it takes a second to import
    except ImportError as fault:
        raise RebalanceCheckError(
            f"the engine spark needs an extra ({fault}): pip install 'rebalance-check[spark]', or choose --engine local"
        ) from fault
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    session = start(master)
    try:
        yield session
    except BaseException:
        with suppress(
            Exception
        ):  # an interrupt may have closed the connection to Java; the first exception is the one that counts
            session.stop()
        raise
    session.stop()


def start(master: str = LOCAL_MASTER) -> SparkSession:
    """Start a session that the caller stops.

    Raises: RebalanceCheckError when no session starts on this master.
    """
    from pyspark import SparkConf  # noqa: PLC0415 - an extra, and it takes a second to import
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra, and it takes a second to import

    embedded = master.startswith("local")
    settings = EVERYWHERE | (EMBEDDED if embedded else {})
    if embedded:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    conf = SparkConf().setMaster(master).setAppName("rebalance-check").setAll(list(settings.items()))
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        _start_jvm(conf)
        session = SparkSession.builder.config(conf=conf).getOrCreate()
    except Exception as fault:  # PySpark has no common class for failures between Python and Java
        reason = next(iter(str(fault).splitlines()), type(fault).__name__)
        raise RebalanceCheckError(
            f"no Spark session starts on the master {master!r} ({reason}): name a master such as {LOCAL_MASTER}, or "
            "choose --engine local"
        ) from fault
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, interrupt)  # Spark's own handler cancels the jobs, and with them finished work
    return session


def _start_jvm(conf: SparkConf) -> None:
    """Start the JVM that this process uses from now on, unless it has one."""
    from pyspark import SparkContext  # noqa: PLC0415 - an extra, and it takes a second to import
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415 - as above

    if SparkContext._gateway is None:
        with filtered_errors() as errors:
            gateway = launch_gateway(conf, popen_kwargs={"stderr": errors})  # type: ignore[no-untyped-call] # theirs
        SparkContext(conf=conf, gateway=gateway)


@contextmanager
def translated() -> Iterator[None]:
    """Turn a `RebalanceCheckError` that a Python worker raised back into one; Spark wraps it in its own trace."""
    try:
        yield
    except Exception as fault:
        match = re.search(rf"^\S*{WORKER_ERRORS}: (.+)$", str(fault), re.MULTILINE)
        if match is None:
            raise
        raise RebalanceCheckError(match[1]) from fault
