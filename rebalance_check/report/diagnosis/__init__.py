"""A diagnosis as text, as one JSON object, and as a page."""
