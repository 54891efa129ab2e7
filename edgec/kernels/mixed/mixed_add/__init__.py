"""Sum of two tensors of int8 or int16 in plain C."""
