"""Planted defects of the classic model, by subject."""
