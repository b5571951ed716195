"""The tasks of an exactly-once source as a model: what the leader fences, and when a task may start (KIP-618)."""
