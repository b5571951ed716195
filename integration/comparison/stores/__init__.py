"""Kafka Connect's own stores and ours: both do the same steps, and everything that can be observed is compared.

A *sequence* is a list of steps as JSON. ``config_ours`` and ``status_ours`` perform it on our stores, ``java_stores``
on those of a release of connect-runtime, in a Java process. The ``_history`` modules record stores as events.
"""
