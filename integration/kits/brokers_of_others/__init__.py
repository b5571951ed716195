"""Brokers of others that speak Kafka's protocol, small enough to start for a test: each is for this machine only."""
