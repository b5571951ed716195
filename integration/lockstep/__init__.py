"""Kafka Connect's own Java classes and ours: both do the same steps, and everything that can be observed is compared.

A *sequence* is a list of steps as JSON (`rebalance_check.integration.lockstep.steps`). ``config_ours`` and
``status_ours`` perform it on our stores, ``java`` on those of a release of connect-runtime, in a Java process.
"""
