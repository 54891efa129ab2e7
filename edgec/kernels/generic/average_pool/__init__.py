"""Mean over a sliding window in plain C."""
