"""The common base of both sides of the protocol: network, assignment, log, protocol vote, static and new members."""
