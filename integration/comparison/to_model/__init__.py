"""Holds coordinators of any make to the model: replay, schedules, every transition, guided walks."""
