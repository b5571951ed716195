"""Models of Kafka Connect."""
