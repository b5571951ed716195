"""Findings: what is wrong with a group, since when, who causes it, and what to do. Each rule names its threshold."""
