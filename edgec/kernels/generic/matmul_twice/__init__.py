"""Products of two int8 matrices that round twice, in plain C."""
