"""Products of two matrices of int8 or int16 that are both computed, in plain C."""
