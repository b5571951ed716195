"""A group of Kafka Connect workers as a model: eager and incremental cooperative rebalancing."""
