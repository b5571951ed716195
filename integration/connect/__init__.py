"""Java Connect workers on a real broker: started, disturbed, recorded.

A connector of ours observes the work that really runs."""
