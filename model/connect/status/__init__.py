"""The status store of Kafka Connect as a model."""
