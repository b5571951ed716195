"""Java Connect workers and ours on a real broker: their processes, their faults, the history of a cluster."""
