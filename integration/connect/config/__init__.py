"""The config topic of a real cluster, and a worker's view of it."""
