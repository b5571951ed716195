"""The config topic of a real cluster, and what a worker knows of it."""
