"""``python -m rebalance_check`` is the command ``rebalance-check``."""

from rebalance_check.cli import main

if __name__ == "__main__":
    main()
