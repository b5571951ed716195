"""The status store of a Java worker, as its log and the topic show it."""
