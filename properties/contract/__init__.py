"""Claims over any user of the abstract coordinator of KIP-795: callbacks, requests, and when they may come."""
