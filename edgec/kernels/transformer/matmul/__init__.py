"""Products of two int8 matrices that are both computed, in plain C."""
