"""Kafka's own WorkerCoordinator and ours in virtual time: both get the same steps, and all that is seen is compared.

The Java class runs unmodified, its herder's thread and its heartbeat thread in strict alternation with the driver.
"""
