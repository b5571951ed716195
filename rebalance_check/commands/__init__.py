"""The sub-commands of ``rebalance-check``, one module each; every module defines ``command``."""
