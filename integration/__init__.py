"""What no one here wrote: real brokers and real clients, driven, recorded and replayed."""
