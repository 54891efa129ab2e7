"""Layer and root mean square normalization in plain C."""
