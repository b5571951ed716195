"""The tasks of an exactly-once source as a model: the fences of the leader, and when a task may start (KIP-618)."""
