"""Verdicts and counterexamples on paper: text, a table with a column per member, a page, JSON."""
