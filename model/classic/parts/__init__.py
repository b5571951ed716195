"""What both sides of the classic protocol build on: network, assignment, log, protocol vote, static and new members."""
