"""Folds of events into what an observer may conclude."""
