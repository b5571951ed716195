"""Programs in other languages that the kits start: each is built once from its sources, into the cache."""
