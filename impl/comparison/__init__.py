"""Two subjects do the same steps, and both are asked what they show: the first difference is found, and made small."""
