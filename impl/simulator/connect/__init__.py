"""The simulated Connect cluster: worker processes with both stores, a herder, and connectors and tasks that fail."""
