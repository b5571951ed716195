"""What both sides of the classic protocol lean on: network, assignment, group log, protocol vote, static and new members."""
