"""A Connect worker's member of its group: negotiation, claims, leadership, revocation (``WorkerCoordinator``)."""
