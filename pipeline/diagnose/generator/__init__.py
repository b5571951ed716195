"""Offsets topics and broker logs of any size, with planted problems and their truth (`generate`)."""
