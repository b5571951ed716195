"""Conformance testing: the model's members drive a coordinator under test, which is held to every predicted reply.

Works with any `Transport`: the coordinator in this process (`rebalance_check.impl.comparison.to_model.in_process`),
Kafka's own in virtual time, or a broker on a socket.
"""
