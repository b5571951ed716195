"""The Kafka protocol on sockets: bytes to and from `impl.protocol.messages`, and the embedded broker behind a port."""
