"""Mean of 16-bit codes over windows in plain C."""
