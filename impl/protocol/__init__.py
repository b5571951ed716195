"""Bytes that clients hide inside group messages: the consumer protocol, assignors' user data, Connect's protocol."""
