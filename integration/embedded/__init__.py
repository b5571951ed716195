"""The embedded broker: the coordinator of this project behind a socket that speaks the protocol of Kafka."""
