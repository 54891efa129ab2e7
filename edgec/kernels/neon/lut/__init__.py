"""A function of one int8 element by table, on A64."""
