"""The claims: invariants over events, the judge, verdicts and counterexamples, and the Hypothesis machines."""
