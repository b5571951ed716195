"""Kafka's own Connect assignors of any release as an oracle: rounds of a group in, their answers out."""
