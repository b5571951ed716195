"""Connect's config store (``KafkaConfigBackingStore``), sans-IO: which connectors and tasks a cluster shall run.

``keys`` and ``values`` are the records, ``reading`` the fold of the topic, ``snapshot`` the copy workers and assignors
look at, ``writing`` the steps of each write, ``store`` the object that a worker has. ``log`` is the port to the
compacted topic; ``shared_log`` and ``channel`` are a topic in memory, with ``compaction``.
"""
