"""Kafka's client-side assignors, written from their rules: range, roundrobin, sticky and cooperative-sticky."""
