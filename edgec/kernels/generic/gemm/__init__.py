"""Matrix product with constant weights in plain C."""
