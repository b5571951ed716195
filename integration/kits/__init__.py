"""Conformance kits: suites that try someone else's client or broker, and report claim by claim."""
