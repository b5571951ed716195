"""The explorer in the browser: a small server on this machine, its answers, and the page that asks it."""
