"""Claims of need: whatever costs a group its work has a cause in what was sent and answered before."""
