"""Logs of brokers, clients and Connect workers: lines to records, records to facts."""
