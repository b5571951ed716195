"""The herder of a Connect worker: what it starts and stops, and what it writes (``DistributedHerder``, ``Worker``)."""
