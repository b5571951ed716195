"""Recorders for running applications: what a member shows becomes events, written at once, a file for each process."""
