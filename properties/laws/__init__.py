"""The invariants, a file per family: each is a declaration over an engine."""
