"""The Kafka protocol on sockets: bytes to and from `impl.messages`, and the embedded broker behind a port."""
