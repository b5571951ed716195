"""The classic group protocol as a model; `model.classic.model` lists its parts."""
