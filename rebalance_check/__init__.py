"""rebalance-check: prove, fuzz and replay group rebalancing until "exactly one owner" is a fact."""
