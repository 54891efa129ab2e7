"""Mean, sum or maximum over axes in plain C."""
