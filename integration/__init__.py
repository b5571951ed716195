"""Software of others: real brokers and real clients, driven, recorded and replayed."""
