"""Recorders for running applications: a member's facts become events, written at once, a file for each process."""
