"""Function of one int16 element by an interpolated table, in plain C."""
