"""A function of one int8 element by table, in plain C."""
