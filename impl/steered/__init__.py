"""Coordinators that a test drives by hand: their time, their log, and who leads that log."""
