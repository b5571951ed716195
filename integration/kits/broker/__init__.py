"""The broker kit: the model's transitions, scenarios, random requests and live clients on any broker, in one report."""
