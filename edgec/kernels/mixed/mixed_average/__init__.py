"""Mean over windows of int8 or int16 in plain C."""
