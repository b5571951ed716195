"""The invariants of the catalogue, by subject."""
