"""Mean of codes over a sliding window in plain C."""
