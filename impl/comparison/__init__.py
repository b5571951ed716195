"""Two subjects do the same steps, and both are observed after each: the first difference is found, and made small."""
