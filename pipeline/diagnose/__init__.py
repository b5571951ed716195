"""The cause of a rebalance problem, from logs, dumps and topics: sources to facts, facts to rebalances, to findings."""
