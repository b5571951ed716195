"""Random frames at the embedded broker: every api and version that it serves, well-formed, malformed and in between."""
