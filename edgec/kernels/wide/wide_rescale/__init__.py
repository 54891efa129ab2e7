"""Change of scale of 16-bit elements in plain C."""
