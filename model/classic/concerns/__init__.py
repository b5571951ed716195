"""Concerns that bounds switch on: each adds actions and invariants to the classic protocol."""
