"""Connect's status store (``KafkaStatusBackingStore``), sans-IO: each worker's beliefs about connectors and tasks.

``codec`` reads and writes keys and values, ``cache`` folds the records of the log, ``store`` is the object that a
worker writes through, ``log`` is the port to the compacted topic, ``shared_log`` a topic in memory, and ``simulation``
runs a whole cluster of stores over it from one seed.
"""
