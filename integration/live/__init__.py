"""Live runs: real clients in processes of their own, churned with real signals, recorded, judged afterwards."""
