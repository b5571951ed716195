"""The herder of a Connect worker: its starts and stops, and its writes (``DistributedHerder``, ``Worker``)."""
