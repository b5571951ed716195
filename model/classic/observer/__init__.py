"""Turns the steps of the classic model into events."""
