"""The assignors of the leader of a Connect group: the eager one and the incremental one (KIP-415)."""
