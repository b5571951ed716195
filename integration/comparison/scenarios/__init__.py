"""Random scenarios: our coordinator, and one that runs in virtual time, are compared step by step."""
