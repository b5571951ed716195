"""What the leader of a Connect group computes: the eager assignor and the incremental one (KIP-415)."""
