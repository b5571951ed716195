"""Hypothesis state machines: the model and an implementation take the same steps, and are compared after each."""
