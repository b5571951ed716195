"""Java Connect workers on a real broker: started, disturbed, recorded.

What really runs is seen by a connector of ours."""
