"""Java of ours: where the jars of a release are, how sources are compiled, and the processes that answer in JSON."""

from rebalance_check.integration.jvm.child import JavaChild
from rebalance_check.integration.jvm.jdk import (
    JARS_SETTING,
    cache_folder,
    compiled_once,
    fingerprint,
    java_tool,
    made_once,
    one_line,
)

__all__ = [
    "JARS_SETTING",
    "JavaChild",
    "cache_folder",
    "compiled_once",
    "fingerprint",
    "java_tool",
    "made_once",
    "one_line",
]
